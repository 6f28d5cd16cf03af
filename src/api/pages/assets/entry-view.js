import { element } from "./dom.js";
import { lineDiff } from "./line-diff.js";

/** Renders the current state of an entry of the transcript. */
export function viewOf(entry) {
  const view = VIEWS[entry.kind];
  return element("li", { className: CLASSES[entry.kind] ?? entry.kind, children: view(entry) });
}

const CLASSES = { state: "line", usage: "line" };
const MARKS = { completed: "☑", in_progress: "◐", pending: "☐" };
const TOOL_MARKS = { completed: "✓", failed: "✗", in_progress: "…", running: "…", pending: "·" };

const VIEWS = {
  message: ({ text }) => [element("pre", { text })],
  thought: ({ text }) => [folded("Thought", [element("pre", { text })])],
  followup: ({ text }) => [element("h2", { text: "Follow-up" }), element("pre", { text })],
  line: ({ text }) => [element("span", { text })],
  state: (entry) => [element("span", { text: stateLine(entry) })],
  usage: (entry) => [element("span", { text: usageLine(entry) })],
  plan: ({ entries }) => [
    element("h2", { text: "Plan" }),
    element("ul", { className: "plan", children: entries.map(planLine) }),
  ],
  question: ({ title, options = [], answer }) => [
    element("h2", { text: answer === undefined ? "Waits for an answer" : "Was asked" }),
    element("p", { text: title ?? "" }),
    element("p", {
      text: answer === undefined ? options.map(({ name }) => name).join(" / ") : `Answer: ${answer}`,
    }),
  ],
  tool: (entry) => [folded(toolLine(entry), toolDeps(entry), "tool")],
};

function folded(summary, children, className) {
  return element("details", { className, children: [element("summary", { text: summary }), ...children] });
}

function stateLine({ from, to, reason, code }) {
  const why = reason === undefined ? "" : `: ${reason}`;
  return `${from} → ${to}${why}${code === undefined ? "" : ` (${code})`}`;
}

function usageLine({ used, size, costUsd }) {
  const cost = costUsd === undefined ? "" : ` · $${costUsd.toFixed(4)}`;
  return `Context: ${used} of ${size} tokens${cost}`;
}

function planLine({ content, status }) {
  return element("li", { text: `${MARKS[status] ?? "☐"} ${content}` });
}

function toolLine({ title, tool_call_id: toolCallId, tool_kind: toolKind, status = "pending" }) {
  return `${TOOL_MARKS[status] ?? "·"} ${title ?? toolKind ?? toolCallId ?? "Tool call"} (${status})`;
}

function toolDeps({ content = [], output = "", locations = [], raw_input: rawInput }) {
  const places = locations.map(({ path, line }) => (line === undefined ? path : `${path}:${line}`));
  const parts = places.length === 0 ? [] : [element("p", { className: "facts", text: places.join(", ") })];
  if (content.length === 0 && output === "" && rawInput !== undefined) {
    parts.push(element("pre", { text: JSON.stringify(rawInput, null, 2) }));
  }
  return [...parts, ...withOutput(content, output).map(toolPart)];
}

/** Continues the last text of the content by the output. */
function withOutput(content, output) {
  const last = content.at(-1);
  if (output === "") {
    return content;
  }
  if (last?.type === "terminal") {
    return [...content.slice(0, -1), { ...last, output: (last.output ?? "") + output }];
  }
  return last?.type === "text"
    ? [...content.slice(0, -1), { ...last, text: last.text + output }]
    : [...content, { type: "text", text: output }];
}

function toolPart(part) {
  if (part.type === "diff") {
    return diffView(part);
  }
  if (part.type === "terminal") {
    return element("pre", { text: part.output ?? "" });
  }
  return element("pre", { text: part.type === "text" ? part.text : JSON.stringify(part.data, null, 2) });
}

const LINE_CLASSES = { "+": "added", "-": "removed", " ": "kept" };

function diffView({ path, old_text: oldText, new_text: newText }) {
  const lines = lineDiff(oldText, newText).map(({ sign, text }) =>
    element("span", { className: LINE_CLASSES[sign], text: `${sign}${text}\n` }),
  );
  return element("div", { children: [element("h2", { text: path }), element("pre", { children: lines })] });
}

import { element, getJson, localTime, showState } from "./dom.js";

const notice = document.getElementById("notice");
const list = document.getElementById("runs");

try {
  const { runs } = await getJson("/api/v1/agent/runs?sort_by=created_at&limit=50");
  list.append(...runs.map(row));
  notice.textContent = runs.length === 0 ? "There are no runs yet." : "";
} catch (error) {
  notice.textContent = error.message;
}

function row(run) {
  const link = element("a", { text: run.title || "(no title)" });
  link.href = `/runs/${run.run_id}`;
  const pill = element("span", { className: "pill" });
  showState(pill, run.state);
  const facts = element("p", { className: "facts", text: `${run.source} · ${localTime(run.created_at)}` });
  return element("li", {
    children: [element("div", { className: "heading", children: [link, pill] }), facts],
  });
}

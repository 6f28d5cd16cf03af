import { getJson, localTime, postJson, showState } from "./dom.js";
import { viewOf } from "./entry-view.js";
import { KINDS, Transcript } from "./transcript.js";

const REOPEN_MS = 2_000;
const NEAR_END_PIXELS = 80;

const runId = document.getElementById("run").dataset.runId;
const runPath = `/api/v1/agent/runs/${runId}`;
const transcript = new Transcript();
const views = new Map();
const changed = new Set();

offerFollowUps(document.getElementById("follow-up"));
await showRun();
listen();

async function showRun() {
  try {
    const run = await getJson(runPath);
    document.title = `${run.title} · Errand`;
    put("title", run.title);
    put("prompt", run.prompt);
    put("facts", [run.source, run.agent?.name, localTime(run.created_at)].filter(Boolean).join(" · "));
    showEnd(run);
  } catch (error) {
    put("notice", error.message);
  }
}

function showEnd({ state, status_message: status }) {
  showState(document.getElementById("state"), state);
  const problem = document.getElementById("problem");
  problem.hidden = status === undefined || !["FAILED", "ERROR", "BLOCKED"].includes(state);
  problem.textContent = status?.message ?? "";
}

/** The stream continues after the end of the run, because a follow-up may continue the run. */
function listen() {
  const source = new EventSource(`${runPath}/events?follow=true&after=${transcript.seen}`);
  for (const kind of KINDS) {
    source.addEventListener(kind, ({ data }) => take(JSON.parse(data)));
  }
  source.addEventListener("open", () => put("notice", ""));
  source.addEventListener("error", () => {
    put("notice", "The connection is lost; trying again…");
    if (source.readyState === EventSource.CLOSED) {
      setTimeout(reopen, REOPEN_MS);
    }
  });
}

/**
 * Called because browsers do not reconnect after an error status. Reading the run also shows whether the reader is
 * still signed in.
 */
async function reopen() {
  await showRun();
  listen();
}

function take(event) {
  const entry = transcript.add(event);
  if (event.kind === "run.state") {
    showEnd({ state: event.to, status_message: event.status });
  }
  if (entry === undefined) {
    return;
  }
  const isFirst = changed.size === 0;
  changed.add(entry);
  if (isFirst) {
    requestAnimationFrame(drawChanged);
  }
}

/** Called once per frame, however many parts of a message have arrived. */
function drawChanged() {
  const isAtEnd = innerHeight + scrollY >= document.body.scrollHeight - NEAR_END_PIXELS;
  for (const entry of changed) {
    draw(entry);
  }
  changed.clear();
  if (isAtEnd) {
    scrollTo(0, document.body.scrollHeight);
  }
}

function draw(entry) {
  const earlier = views.get(entry.key);
  const view = viewOf(entry);
  const wasOpen = earlier?.querySelector("details")?.open;
  const details = view.querySelector("details");
  if (details !== null && wasOpen) {
    details.open = true;
  }
  views.set(entry.key, view);
  if (earlier === undefined) {
    document.getElementById("log").append(view);
  } else {
    earlier.replaceWith(view);
  }
}

/** Visitors who may only read do not have this form. */
function offerFollowUps(form) {
  form.hidden = form.dataset.allowed !== "true";
  form.addEventListener("submit", async (submitted) => {
    submitted.preventDefault();
    const field = document.getElementById("message");
    put("sent", "Sending…");
    try {
      await postJson(`${runPath}/followups`, { message: field.value });
      field.value = "";
      put("sent", "Sent.");
    } catch (error) {
      put("sent", error.message);
    }
  });
}

function put(id, text) {
  document.getElementById(id).textContent = text;
}

/**
 * Creates an element with text and children. All content of a run is untrusted. It is added to the page only here, as
 * text and never as markup.
 * @param {string} name
 * @param {{className?: string, text?: string, children?: Node[]}} [content]
 */
export function element(name, { className, text, children = [] } = {}) {
  const made = document.createElement(name);
  if (className !== undefined) {
    made.className = className;
  }
  if (text !== undefined) {
    made.textContent = text;
  }
  made.append(...children);
  return made;
}

/** @param {HTMLElement} pill @param {string} state */
export function showState(pill, state) {
  pill.textContent = state;
  pill.dataset.state = state;
}

/** Formats a time for the reader's locale and time zone. @param {string} time */
export function localTime(time) {
  return new Date(time).toLocaleString();
}

/** Reads JSON from the API. Redirects a reader who is no longer signed in. @param {string} path */
export async function getJson(path) {
  return bodyOf(await fetch(path, { headers: { accept: "application/json" } }));
}

/** Sends JSON to the API. @param {string} path @param {object} body */
export async function postJson(path, body) {
  const headers = { accept: "application/json", "content-type": "application/json" };
  return bodyOf(await fetch(path, { method: "POST", headers, body: JSON.stringify(body) }));
}

/** @param {Response} response */
async function bodyOf(response) {
  if (response.status === 401) {
    location.assign(`/signin?next=${encodeURIComponent(location.pathname)}`);
    throw new Error("Signed out.");
  }
  const body = await response.json();
  if (!response.ok) {
    throw new Error(body.error);
  }
  return body;
}

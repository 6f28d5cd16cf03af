/**
 * An element with text and children. Everything a run says is untrusted: it gets onto the page as text, here, and
 * never as markup.
 * @param {string} name
 * @param {{className?: string, text?: string, children?: Node[]}} [content]
 */
export function element(name, { className, text, children = [] } = {}) {
  const made = document.createElement(name);
  if (className !== undefined) made.className = className;
  if (text !== undefined) made.textContent = text;
  made.append(...children);
  return made;
}

/** @param {HTMLElement} pill @param {string} state */
export function showState(pill, state) {
  pill.textContent = state;
  pill.dataset.state = state;
}

/** A time as the reader's own clock has it. @param {string} time */
export function localTime(time) {
  return new Date(time).toLocaleString();
}

/** JSON from the API; whoever is not signed in any more is sent to do so. @param {string} path */
export async function getJson(path) {
  const response = await fetch(path, { headers: { accept: "application/json" } });
  if (response.status === 401) {
    location.assign(`/signin?next=${encodeURIComponent(location.pathname)}`);
    throw new Error("Signed out.");
  }
  const body = await response.json();
  if (!response.ok) throw new Error(body.error);
  return body;
}

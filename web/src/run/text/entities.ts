/**
 * Decodes a character that has a name, such as `&copy;`. The build puts it in place of the package `entities`, because
 * the browser has the table of names already.
 */
export function decodeHTMLStrict(text: string): string {
  const field = document.createElement("textarea");
  // The content of a text field is text: no part of it becomes an element.
  field.innerHTML = text;
  return field.value;
}

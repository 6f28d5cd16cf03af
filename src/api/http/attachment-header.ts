/**
 * A `Content-Disposition` by which no browser shows the file. The name is given twice (RFC 6266): once for old readers,
 * without anything that could end the quoted text, and once whole.
 */
export function attachmentHeader(fileName: string): string {
  const plain = fileName.replace(/[^\w .()+@=,-]/g, "_");
  const whole = encodeURIComponent(fileName.toWellFormed()).replace(/['()*]/g, escaped);
  return `attachment; filename="${plain}"; filename*=UTF-8''${whole}`;
}

function escaped(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}

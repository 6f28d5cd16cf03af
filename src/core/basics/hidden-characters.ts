/**
 * Characters without a shape of their own. They can hide words from a person who approves a text, or make it look like
 * another text: what Unicode calls default-ignorable, controls of direction, other controls, and blanks that are
 * letters or symbols. `\p{Cs}`: half a character.
 */
const HIDDEN =
  "[\\p{Default_Ignorable_Code_Point}\\p{Bidi_Control}\\p{Noncharacter_Code_Point}\\p{Cs}" +
  "\\u2028\\u2029\\u2800\\uFFF9-\\uFFFB\\u{13441}\\u{13442}\\u{16FE4}\\u{1D159}]|(?![\\t\\n]|\\r\\n)\\p{Cc}";

/** Scripts in which a joiner or non-joiner between two letters changes how the letters look. */
const JOINING_SCRIPTS = [
  ...["Adlam", "Arabic", "Hanifi_Rohingya", "Mandaic", "Manichaean", "Mongolian", "Nko", "Syriac"],
  ...["Balinese", "Bengali", "Devanagari", "Gujarati", "Gurmukhi", "Javanese", "Kannada", "Khmer"],
  ...["Malayalam", "Myanmar", "Oriya", "Sinhala", "Tamil", "Telugu", "Tibetan"],
];
const JOINING = `[${JOINING_SCRIPTS.map((name) => `\\p{Script_Extensions=${name}}`).join("")}]`;

/** The flags of England, Scotland and Wales: a black flag, a name in tags, and the tag that ends it. */
const FLAG =
  "\\u{1F3F4}\\u{E0067}\\u{E0062}" +
  "(?:\\u{E0065}\\u{E006E}\\u{E0067}|\\u{E0073}\\u{E0063}\\u{E0074}|\\u{E0077}\\u{E006C}\\u{E0073})\\u{E007F}";

/** Where a hidden character only changes the shape of what stands beside it. A digit has a style only in a keycap. */
const HARMLESS = [
  FLAG,
  "(?<=(?![0-9#*]|\\p{Regional_Indicator})\\p{Emoji})[\\uFE0E\\uFE0F]",
  "(?<=[0-9#*])\\uFE0F(?=\\u20E3)",
  "(?<=\\p{Extended_Pictographic}\\uFE0F?|\\p{Emoji_Modifier})\\u200D(?=\\p{Extended_Pictographic})",
  `(?<=[\\p{L}\\p{M}])(?<=${JOINING})[\\u200C\\u200D](?=${JOINING})(?=[\\p{L}\\p{M}])`,
].join("|");

const PATTERN = new RegExp(`(${HARMLESS})|${HIDDEN}`, "gu");

/** The text with each hidden character as its number, such as `⟨U+200B⟩`. */
export function withHiddenShown(text: string): string {
  return text.replace(PATTERN, (found, harmless: string | undefined) => harmless ?? numberOf(found));
}

/** Whether a person who reads the text cannot see all of it. */
export function hasHidden(text: string): boolean {
  return withHiddenShown(text) !== text;
}

function numberOf(character: string): string {
  const number = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
  return `⟨U+${number}⟩`;
}

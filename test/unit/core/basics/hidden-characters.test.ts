import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { hasHidden, withHiddenShown } from "../../../../src/core/basics/hidden-characters.ts";

const tags = (words: string) =>
  Array.from(words, (letter) => String.fromCodePoint(0xe0000 + (letter.codePointAt(0) ?? 0))).join("");
const range = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, index) => String.fromCodePoint(first + index));

/** Each name is an alphabet in which words can be written that nobody sees. */
const ALPHABETS: Readonly<Record<string, readonly string[]>> = {
  tags: [...range(0xe0001, 0xe0001), ...range(0xe0020, 0xe007f)],
  "zero width": ["\u200b", "\u200c", "\u200d", "\u2060", "\ufeff"],
  "bidi overrides, embeddings and isolates": [...range(0x202a, 0x202e), ...range(0x2066, 0x2069)],
  "bidi marks": ["\u200e", "\u200f", "\u061c"],
  "deprecated format characters": range(0x206a, 0x206f),
  "variation selectors": [...range(0xfe00, 0xfe0f), ...range(0xe0100, 0xe01ef)],
  "Mongolian variation selectors": range(0x180b, 0x180f),
  "Hangul fillers": ["\u115f", "\u1160", "\u3164", "\uffa0"],
  "blanks of other scripts": ["\u2800", "\u{13441}", "\u{13442}", "\u{16fe4}", "\u{1d159}"],
  "invisible operators of mathematics": range(0x2061, 0x2064),
  "soft hyphen and grapheme joiner": ["\u00ad", "\u034f"],
  "invisible vowels of Khmer": ["\u17b4", "\u17b5"],
  "controls of musical notation": range(0x1d173, 0x1d17a),
  "controls of shorthand": range(0x1bca0, 0x1bca3),
  "interlinear annotation": range(0xfff9, 0xfffb),
  "line and paragraph separators": ["\u2028", "\u2029"],
  "C0 controls": [...range(0, 8), ...range(0x0b, 0x1f), "\u007f"],
  "C1 controls": range(0x80, 0x9f),
  "unassigned default-ignorable": ["\ufff0", "\u{e0200}", "\u{e0fff}"],
  "half a character and noncharacters": ["\ud83d", "\udc00", "\ufdd0", "\uffff", "\u{10ffff}"],
};

describe.each(Object.entries(ALPHABETS))("%s", (_name, characters) => {
  test.each(["a", "1", " ", "界", "é"])("are shown between two of %j", (letter) => {
    for (const character of characters) {
      const text = `${letter}${character}${letter}`;
      const number = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");

      expect(withHiddenShown(text)).toBe(`${letter}⟨U+${number}⟩${letter}`);
      expect(hasHidden(text)).toBe(true);
    }
  });
});

/** Words that are hidden in what may follow an emoji, a flag or a letter of a script that joins. */
test.each([
  ["tags behind a black flag", `🏴${tags("rm -rf")}\u{e007f}`],
  ["tags behind the flag of England", `🏴${tags("gbeng")}\u{e007f}${tags("x")}`],
  ["the flag of England without its end", `🏴${tags("gbeng")}`],
  ["a flag that no system draws", `🏴${tags("gbabc")}\u{e007f}`],
  ["a second variation selector behind an emoji", "❤\ufe0f\ufe0f"],
  ["another variation selector behind an emoji", "❤\ufe01"],
  ["variation selectors behind an emoji", "👍\u{e0100}\u{e0101}"],
  ["styles behind digits", "1\ufe0f2\ufe0e3"],
  ["text style in a keycap", "1\ufe0e\u20e3"],
  ["a style between two regional indicators", "🇩\ufe0f🇪"],
  ["two joiners between emoji", "👨\u200d\u200d👩"],
  ["a joiner behind the last emoji", "👨\u200d "],
  ["a joiner between an emoji and a letter", "👨\u200da"],
  ["two non-joiners in Persian", "می\u200c\u200cخواهم"],
  ["a non-joiner behind a Persian word", "می\u200c "],
  ["a non-joiner between Arabic and Latin", "م\u200ca"],
  ["a non-joiner between Latin letters", "pass\u200cword"],
  ["a joiner between Hebrew letters", "ש\u200dל"],
  ["a joiner between Thai letters", "ก\u200dข"],
  ["an override around a word", "\u202etxt.exe\u202c"],
])("%s is shown", (_name, text) => {
  expect(hasHidden(text)).toBe(true);
});

/** What people write every day. */
const MESSAGES = [
  "Fix the login page, please.",
  "Please\ttab\nand a new line",
  "A line end of Windows\r\nand the next line",
  "Café, naïve, Zürich, Łódź, Ñandú",
  "e\u0301 with a combining accent",
  "Preis: 20\u00a0€ — “quoted” … it’s 5 ≤ 6",
  "👍",
  "👍🏽 looks good 👎🏿",
  "❤️ thanks ❤︎",
  "☺️ ☎︎ ✔️ ⚠️ ©️ ™️ ↔️",
  "👨‍👩‍👧‍👦 the family",
  "👩‍👩‍👦 and 👨‍👨‍👧‍👧",
  "👩‍💻 works, 🧑🏾‍🚀 flies, 👨🏻‍⚕️ heals",
  "👩🏽‍🤝‍👨🏿 and 🧑‍🤝‍🧑",
  "💑 👩‍❤️‍💋‍👨 👨‍❤️‍👨",
  "🏳️‍🌈 🏳️‍⚧️ 🏴‍☠️",
  "❤️‍🔥 ❤️‍🩹",
  "🐻‍❄️ 🐈‍⬛ 🐦‍🔥 🍋‍🟩",
  "🤷‍♀️ 🤦🏼‍♂️ 🏃🏿‍♀️",
  "👁️‍🗨️ 😶‍🌫️ 😮‍💨",
  "🇩🇪 🇫🇷 🇺🇦 🇧🇷",
  "🏴󠁧󠁢󠁥󠁮󠁧󠁿 England",
  "🏴󠁧󠁢󠁳󠁣󠁴󠁿 Scotland and 🏴󠁧󠁢󠁷󠁬󠁳󠁿 Wales",
  "1️⃣ first 2️⃣ second #️⃣ *️⃣ 0️⃣",
  "می‌خواهم این را درست کنم",
  "کتاب‌ها و نامه‌های ما",
  "نمی‌شود؟ چرا نه!",
  "سلام دنیا",
  "ہم‌سایہ اردو میں",
  "کوردی: ده‌چم بۆ ماڵ",
  "مرحبا بالعالم، كيف حالك؟",
  "السَّلَامُ عَلَيْكُمْ",
  "שלום עולם, מה שלומך?",
  "בְּרֵאשִׁית בָּרָא",
  "नमस्ते दुनिया",
  "क्‍ष और क्ष, र्‍य",
  "हिन्दी में लिखा हुआ वाक्य।",
  "বাংলা: র‍্যাব, ক্ষমা",
  "ਪੰਜਾਬੀ ਵਿੱਚ",
  "தமிழ் மொழி, க்‌ஷ",
  "తెలుగు భాష",
  "ಕನ್ನಡ: ರ‍್ಯಾಂಕ್",
  "മലയാളം ഭാഷ",
  "සිංහල: ශ්‍රී ලංකා",
  "สวัสดีชาวโลก",
  "ស្វាគមន៍",
  "မင်္ဂလာပါ",
  "修复登录页面，谢谢！",
  "ログインページを直してください。",
  "로그인 페이지를 고쳐 주세요",
  "Привет, мир! Γειά σου Κόσμε",
  "Tiếng Việt: Xin chào thế giới",
];

test("there are at least fifty ordinary messages", () => {
  expect(new Set(MESSAGES).size).toBeGreaterThanOrEqual(50);
});

test.each(MESSAGES)("the ordinary message %j stays as it is", (message) => {
  expect(withHiddenShown(message)).toBe(message);
  expect(hasHidden(message)).toBe(false);
});

test("all but the known positions of a default-ignorable character are hidden, for every code point", () => {
  const missed: string[] = [];
  for (let code = 0; code <= 0x10ffff; code += 1) {
    const character = String.fromCodePoint(code);
    if (/\p{Default_Ignorable_Code_Point}/u.test(character) && !hasHidden(`a${character}b`)) {
      missed.push(code.toString(16));
    }
  }
  expect(missed).toEqual([]);
});

test("the pages and the command line have the same list, in the client that both use", async () => {
  const root = join(import.meta.dirname, "../../../..");
  const read = (path: string) => readFile(join(root, path), "utf8");

  expect(await read("clients/typescript/src/hidden-characters.ts")).toBe(
    await read("src/core/basics/hidden-characters.ts"),
  );
});

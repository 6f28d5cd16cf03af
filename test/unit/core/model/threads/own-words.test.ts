import { describe, expect, test } from "vitest";
import type { PendingPermission } from "../../../../../src/core/model/runs/run.ts";
import { ownWords, quotedMailStart, wordsFirst } from "../../../../../src/core/model/threads/own-words.ts";
import { answerIn } from "../../../../../src/core/runs/decide-follow-up.ts";
import { parseCommand } from "../../../../../src/core/threads/inbox/parse-command.ts";

/** What tools add around a word, `%` here. */
const AROUND: readonly (readonly [string, string])[] = [
  [
    "a quote reply of GitHub",
    "> @errand **The agent asks:** May I?\n> Answer with one of: Allow, Reject.\n\n%",
  ],
  ["a quote of two levels", ">> yes\n> no\n\n%"],
  ["a quote after the word", "%\n\n> The agent asks: May I?"],
  ["a signature", "%\n-- \nAda Lovelace\nAcme"],
  ["the footer of a mail of GitHub", "%\n\n—\nReply to this email directly, view it on GitHub"],
  ["a phone", "%\n\nSent from my iPhone"],
  ["a phone, in German", "%\n\nVon meinem iPhone gesendet"],
  ["a phone, in French", "%\n\nEnvoyé de mon iPhone"],
  ["a phone, in Spanish", "%\n\nEnviado desde mi iPhone"],
  ["a phone, in Italian", "%\n\nInviato da iPhone"],
  ["a phone, in Portuguese", "%\n\nEnviado do meu iPhone"],
  ["a phone, in Dutch", "%\n\nVerstuurd vanaf mijn iPhone"],
  ["a phone, in Russian", "%\n\nОтправлено с iPhone"],
  ["a phone, in Japanese", "%\n\niPhoneから送信"],
  ["a phone, in Chinese", "%\n\n发自我的 iPhone"],
  ["Outlook on a phone", "%\n\nGet Outlook for iOS"],
  ["Samsung", "%\n\nGesendet von meinem Samsung Galaxy"],
  ["a quoted mail", "%\n\nOn Mon, 2 Mar 2026 at 10:12, errand[bot] <n@github.com> wrote:\n\n> May I?"],
  [
    "a quoted mail with a wrapped attribution",
    "%\n\nOn Mon, 2 Mar 2026 at 10:12, errand[bot]\n<n@github.com> wrote:\n\nMay I?",
  ],
  ["a quoted mail without >", "%\n\nOn 2 Mar 2026, at 10:12, errand[bot] wrote:\nMay I?\nstop"],
  ["a quoted mail, in German", "%\n\nAm 02.03.2026 um 10:12 schrieb errand[bot] <n@github.com>:\nMay I?"],
  ["a quoted mail, in French", "%\n\nLe lun. 2 mars 2026 à 10:12, errand[bot] a écrit :\nMay I?"],
  ["a quoted mail, in Spanish", "%\n\nEl lun, 2 mar 2026 a las 10:12, errand[bot] escribió:\nMay I?"],
  ["a quoted mail, in Portuguese", "%\n\nEm seg., 2 de mar. de 2026 às 10:12, errand[bot] escreveu:\nMay I?"],
  ["a quoted mail, in Italian", "%\n\nIl giorno lun 2 mar 2026 alle 10:12 errand[bot] ha scritto:\nMay I?"],
  ["a quoted mail, in Dutch", "%\n\nOp ma 2 mrt 2026 om 10:12 schreef errand[bot] <n@github.com>:\nMay I?"],
  [
    "a quoted mail, in Swedish",
    "%\n\nDen mån 2 mars 2026 kl 10:12 skrev errand[bot] <n@github.com>:\nMay I?",
  ],
  ["a quoted mail, in Polish", "%\n\nW dniu 2.03.2026 o 10:12, errand[bot] napisał(a):\nMay I?"],
  ["a quoted mail, in Russian", "%\n\nпн, 2 мар. 2026 г. в 10:12, errand[bot] пишет:\nMay I?"],
  ["a quoted mail, in Chinese", "%\n\nerrand[bot] 于2026年3月2日 10:12写道：\nMay I?"],
  ["a quoted mail, in Japanese", "%\n\n2026年3月2日(月) 10:12 errand[bot] のメール:\nMay I?"],
  [
    "Outlook",
    "%\n\nFrom: errand[bot] <n@github.com>\nSent: Monday, March 2, 2026 10:12\nTo: Ada\nSubject: Re\n\nMay I?",
  ],
  [
    "Outlook, in German",
    "%\n\nVon: errand[bot]\nGesendet: Montag, 2. März 2026 10:12\nAn: Ada\nBetreff: Re\n\nMay I?",
  ],
  [
    "Outlook, in French",
    "%\n\nDe : errand[bot]\nEnvoyé : lundi 2 mars 2026 10:12\nÀ : Ada\nObjet : Re\n\nMay I?",
  ],
  ["Outlook in Markdown", "%\n\n**From:** errand[bot]\n**Sent:** Monday\n\nMay I?"],
  ["a line before the original", "%\n\n-----Original Message-----\nMay I?"],
  ["a line before the original, in German", "%\n\n-----Ursprüngliche Nachricht-----\nMay I?"],
  ["a line of Outlook", "%\n\n________________________________\nMay I?"],
  ["an answer below the quoted mail", "On Mon, 2 Mar 2026 at 10:12, errand[bot] wrote:\n> May I?\n\n%"],
  ["a comment of a mail program", "<!-- p {margin:0} -->\n%\n<!-- end -->"],
  [
    "all of them",
    "> May I?\n\n%\n\nSent from my iPhone\n\nOn 2 Mar 2026, at 10:12, errand[bot] wrote:\n\n> May I?",
  ],
  ["Windows line ends", "> May I?\r\n\r\n%\r\n\r\nSent from my iPhone\r\n"],
];

const QUESTION: PendingPermission = {
  permissionId: "p1",
  title: "May I?",
  askedAt: new Date("2026-03-01T12:00:00.000Z"),
  options: [
    { optionId: "allow", name: "Allow", kind: "allow_once" },
    { optionId: "reject", name: "Reject", kind: "reject_once" },
  ],
};

describe.each(AROUND)("beside %s", (_, around) => {
  test.each([
    ["stop", { kind: "stop" }],
    ["status?", { kind: "status" }],
    ["retry", { kind: "retry" }],
    ["mute", { kind: "mute" }],
    ["(aside) hm", { kind: "aside" }],
    ["stop the server", { kind: "work" }],
  ])("the word %j is read", (word, command) => {
    expect(parseCommand({ text: around.replace("%", word) })).toEqual(command);
  });

  test("an answer is read, and nothing else is one", () => {
    const answer = (word: string) => answerIn(QUESTION, around.replace("%", word))?.option?.optionId;

    expect(["allow", "Yes!", "no", "Reject"].map(answer)).toEqual(["allow", "allow", "reject", "reject"]);
    expect(["yes, but why?", "may I?", "2026"].map(answer)).toEqual([undefined, undefined, undefined]);
  });

  test("a new request keeps all that was sent", () => {
    const command = parseCommand({ text: around.replace("%", "new fix the lexer") });

    expect(command).toEqual({ kind: "new", prompt: expect.stringMatching(/^fix the lexer/) });
    expect(JSON.stringify(command).includes("May I?")).toBe(around.includes("May I?"));
  });
});

test.each([
  ["> first\nyes\n> second\nno"],
  ["From: 1.2\nTo: 1.3\n\nstop"],
  ["On the branch main you wrote:\nstop"],
  ["I sent it from my iPhone\nstop"],
  ["- one\n- two\nstop"],
])("%j is no control word", (text) => {
  expect(parseCommand({ text })).toEqual({ kind: "work" });
  expect(answerIn(QUESTION, text)).toBeUndefined();
});

test.each([
  ["Sent from my iPhone", "help"],
  ["> It fails since Monday.", "work"],
  ["On 2 Mar 2026, at 10:12, Bob wrote:\nIt fails.", "work"],
])("a message that only says %j is read as %s", (text, kind) => {
  expect(parseCommand({ text })).toEqual({ kind });
});

test("options after a quote stand at the front of the request, and the quote after it", () => {
  expect(wordsFirst("> It fails.\n\nrepo=acme/web fix it")).toBe("repo=acme/web fix it\n\n> It fails.");
  expect(wordsFirst("fix it\n\n> It fails.")).toBe("fix it\n\n> It fails.");
});

test("a hostile text is read in one pass", () => {
  const many = 50_000;
  for (const part of ["<!--", "<!---->", "> ", "On 1 ", "-", "_", " ", "From:\n", "写道 "]) {
    const text = `${part.repeat(many)}\nx`;
    expect(ownWords(text).length).toBeLessThanOrEqual(text.length);
    expect(quotedMailStart(text.split("\n"))).toBeGreaterThanOrEqual(0);
  }
});

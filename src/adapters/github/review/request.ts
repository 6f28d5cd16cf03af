/** What may stand between the word and its end, so that "review comments are wrong" is no request for a review. */
const OBJECTS = "(?:this|it|again|please|pr|(?:the|this|my|our) (?:pull request|pr|changes?|diff|code))";
const REQUEST = new RegExp(
  `^(?:new:? )?(?:please )?(?:re-?)?review(?: ${OBJECTS})*(?: ?[.,:;!?–—-].*| (?:for|with|especially|in particular) .*)?$`,
  "i",
);

const OPTIONS = /^(?:\s*(?:repo|ref|env|model|agent|pr)=\S+)+/i;

/** Whether a message asks for a review and for nothing else: its first line begins with the word. */
export function asksForReview(text: string): boolean {
  const [line = ""] = text.replace(OPTIONS, "").trim().split("\n");
  return REQUEST.test(line.trim().replace(/\s+/g, " "));
}

import { type ReactNode, useEffect } from "react";

/** The heading of a page, which is also the title of the tab. `needs`: how many runs need the user. */
export function PageHead({
  title,
  text,
  needs = 0,
  children,
}: {
  readonly title: string;
  readonly text?: ReactNode;
  readonly needs?: number;
  readonly children?: ReactNode;
}) {
  useEffect(() => {
    document.title = `${needs > 0 ? `(${needs}) ` : ""}${title} · Errand`;
  }, [title, needs]);
  return (
    <div className="page-head">
      <div>
        <h1>{title}</h1>
        {text && <p>{text}</p>}
      </div>
      {children && <div className="page-acts">{children}</div>}
    </div>
  );
}

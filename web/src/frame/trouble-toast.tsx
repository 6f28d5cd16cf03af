import { Icon } from "../parts/icon.tsx";
import { probe, signInPath, type Trouble, useTrouble } from "../server/trouble.ts";

const TEXTS: Readonly<Record<Trouble, string>> = {
  lost: "The server does not answer. The page tries again by itself.",
  signedOut: "Your sign-in has ended. What you typed stays here.",
  updated: "The server has a new version of this page.",
};

/** Says what keeps the page from working, as long as it does. */
export function TroubleToast() {
  const trouble = useTrouble();
  return (
    trouble && (
      <div className="toast">
        <Icon name="warning" />
        <span>{TEXTS[trouble]}</span>
        {trouble === "lost" && (
          <button type="button" className="btn" onClick={() => void probe()}>
            Try again
          </button>
        )}
        {trouble === "signedOut" && (
          <a className="btn" href={signInPath()} target="_blank" rel="noopener">
            Sign in again
          </a>
        )}
        {trouble === "updated" && (
          <button type="button" className="btn" onClick={() => window.location.reload()}>
            Reload
          </button>
        )}
      </div>
    )
  );
}

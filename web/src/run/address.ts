import { type RefObject, useEffect, useRef, useState } from "react";

/** The key of the entry or file that the address of the page names. Empty if it names none. */
export function keyInAddress(): string {
  const written = window.location.hash.slice(1);
  try {
    return decodeURIComponent(written);
  } catch {
    // A percent sign that encodes nothing.
    return written;
  }
}

/** The same key, again after each change of the address. */
export function useKeyInAddress(): string {
  const [key, setKey] = useState(keyInAddress);
  useEffect(() => {
    const onHash = () => setKey(keyInAddress());
    window.addEventListener("hashchange", onHash);
    return () => window.removeEventListener("hashchange", onHash);
  }, []);
  return key;
}

/** The key of the link after which the reader scrolled or pressed something. */
export function useReleased(key: string): RefObject<string> {
  const released = useRef("");
  useEffect(() => {
    const stop = new AbortController();
    const release = () => {
      released.current = key;
    };
    released.current = "";
    for (const event of ["wheel", "touchmove", "keydown", "pointerdown"]) {
      window.addEventListener(event, release, { passive: true, signal: stop.signal });
    }
    return () => stop.abort();
  }, [key]);
  return released;
}

import { useEffect, useState } from "react";

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

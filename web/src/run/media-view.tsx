import { withHiddenShown } from "@errand/client";
import { useState } from "react";
import { bytes } from "../parts/format.ts";
import { type Media, pictureUrl } from "./conversation/media.ts";

/** Pictures are shown. Other binary content is named with its type and size. */
export function MediaView({ media, of }: { readonly media: readonly Media[]; readonly of: string }) {
  return media.map((each, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: Media have no identity.
    <MediaItem key={index} media={each} alt={`Picture ${index + 1} of: ${of}`} />
  ));
}

function MediaItem({ media, alt }: { readonly media: Media; readonly alt: string }) {
  const [isBroken, setBroken] = useState(false);
  const url = pictureUrl(media);
  const { data, name = "Binary content", sizeBytes, type } = media;
  const facts = `${withHiddenShown(`${name} of the type ${type}`)}, ${bytes(sizeBytes)}.`;
  return (
    <div className="media">
      {url !== undefined && !isBroken && (
        <img src={url} alt={withHiddenShown(alt)} onError={() => setBroken(true)} />
      )}
      {(url === undefined || isBroken) && (
        <p className="faint xs">
          {facts}
          {data === undefined && " It is too large for the log, which has only its beginning."}
          {isBroken && " The browser cannot show this picture."}
        </p>
      )}
    </div>
  );
}

import type { InstallationGuide } from "@errand/client";
import { ConfirmedButton } from "../parts/confirmed-button.tsx";
import { Icon } from "../parts/icon.tsx";
import { Ago } from "../parts/time.tsx";
import { client } from "../server/client.ts";
import { queries } from "../server/queries.ts";

/** What the server keeps of the app that it created. Values are never shown. */
export function StoredSettings({ guide }: { readonly guide: InstallationGuide }) {
  const { adapter, problem, stored_settings: settings = [], title } = guide;
  const newest = settings
    .map(({ updated_at: time }) => time)
    .toSorted()
    .at(-1);
  if (newest === undefined) {
    return null;
  }
  return (
    <section className="card" aria-labelledby="stored">
      <h2 className="sm" id="stored">
        Stored by this server
      </h2>
      {problem && (
        <div className="note fail">
          <Icon name="warning" />
          <p className="grow">{problem}</p>
        </div>
      )}
      <p className="muted sm">
        {settings.map(({ name }) => name).join(", ")}, encrypted, since <Ago time={newest} />. A variable of
        the server is used in place of the setting of the same name.
      </p>
      <ConfirmedButton
        question={`Remove the settings of ${title}?`}
        consequence={`Errand no longer answers in ${title}. The app there is not deleted.`}
        verb="Remove settings"
        action={async () => {
          await client.installations.removeSettings(adapter);
          await queries.invalidateQueries();
        }}
      >
        Remove settings
      </ConfirmedButton>
    </section>
  );
}

import { Button, Menu, MenuItem, MenuTrigger, Popover } from "react-aria-components";
import { Icon } from "../parts/icon.tsx";
import type { ActionId, RunAction } from "./run-actions.ts";

/** The actions that have no button of their own, at least not on a phone. */
const LISTED: ReadonlySet<ActionId> = new Set(["link", "share", "again", "transcript"]);

/** The further actions of a run. It is open from the start, because its button was pressed before it was loaded. */
export function RunMenu({
  actions,
  onCopy,
}: {
  readonly actions: readonly RunAction[];
  readonly onCopy: () => void;
}) {
  return (
    <MenuTrigger defaultOpen>
      <Button className="btn only-icon" aria-label="More actions">
        <Icon name="more" />
      </Button>
      <Popover className="popover" placement="bottom end">
        <Menu aria-label="More actions">
          <MenuItem className="option" onAction={onCopy}>
            <Icon name="copy" /> Copy as Markdown
          </MenuItem>
          {actions
            .filter(({ id }) => LISTED.has(id))
            .map(({ id, icon, name, perform }) => (
              <MenuItem className="option" key={id} onAction={perform}>
                <Icon name={icon} /> {name}
              </MenuItem>
            ))}
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}

import { Button, Menu, MenuItem, MenuTrigger, Popover } from "react-aria-components";
import { Icon, type IconName } from "../parts/icon.tsx";

export type MoreAction = "markdown" | "link" | "share" | "again" | "transcript";

const ACTIONS: readonly (readonly [id: MoreAction, icon: IconName, name: string])[] = [
  ["markdown", "copy", "Copy as Markdown"],
  ["link", "link", "Copy the link"],
  ["share", "share", "Share"],
  ["again", "edit", "Run again with changes"],
  ["transcript", "file", "Download the event log"],
];
const FOR_GUESTS: ReadonlySet<MoreAction> = new Set(["markdown", "link"]);

/** The menu of a run. It is open when it appears. */
export function MoreMenu({
  isGuest,
  onChoose,
}: {
  readonly isGuest: boolean;
  readonly onChoose: (action: MoreAction) => void;
}) {
  return (
    <MenuTrigger defaultOpen>
      <Button className="btn only-icon" aria-label="More actions">
        <Icon name="more" />
      </Button>
      <Popover className="popover" placement="bottom end">
        <Menu aria-label="More actions" onAction={(key) => onChoose(key as MoreAction)}>
          {ACTIONS.filter(([id]) => !isGuest || FOR_GUESTS.has(id)).map(([id, icon, name]) => (
            <MenuItem className="option" id={id} key={id}>
              <Icon name={icon} /> {name}
            </MenuItem>
          ))}
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}

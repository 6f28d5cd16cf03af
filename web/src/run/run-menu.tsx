import { Button, Menu, MenuItem, MenuTrigger, Popover } from "react-aria-components";
import { Icon } from "../parts/icon.tsx";

/** The further actions of a run. It is open from the start, because its button was pressed before it was loaded. */
export function RunMenu({
  isGuest,
  onAction,
}: {
  readonly isGuest: boolean;
  readonly onAction: (key: string | number) => void;
}) {
  return (
    <MenuTrigger defaultOpen>
      <Button className="btn only-icon" aria-label="More actions">
        <Icon name="more" />
      </Button>
      <Popover className="popover" placement="bottom end">
        <Menu onAction={onAction} aria-label="More actions">
          <MenuItem className="option" id="markdown">
            <Icon name="copy" /> Copy as Markdown
          </MenuItem>
          <MenuItem className="option" id="link">
            <Icon name="link" /> Copy the link
          </MenuItem>
          {!isGuest && (
            <>
              <MenuItem className="option" id="share">
                <Icon name="share" /> Share
              </MenuItem>
              <MenuItem className="option" id="again">
                <Icon name="edit" /> Run again with changes
              </MenuItem>
              <MenuItem className="option" id="transcript">
                <Icon name="file" /> Download the event log
              </MenuItem>
            </>
          )}
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}

import { Icon } from "../parts/icon.tsx";

export function OperatorsOnly() {
  return (
    <div className="note">
      <Icon name="secrets" />
      <p className="grow">
        The server, Slack and GitHub are set up by its operators: administrators of the first team. Ask one of
        them, or sign in with the administrator's key.
      </p>
    </div>
  );
}

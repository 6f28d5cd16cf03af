import type { JsonRecord } from "../json.ts";
import { newTriggerId } from "./slack-events.ts";
import { sendSlackForm } from "./slack-sender.ts";
import { type FormValues, homeButtonPayload, shortcutPayload, submissionPayload } from "./slack-views.ts";
import type { ShownView, SlackApp, SlackUser, SlackWorkspace } from "./slack-workspace.ts";

/** A message shortcut on a message of a channel. */
interface Shortcut {
  readonly callbackId: string;
  readonly user: SlackUser;
  readonly channel: string;
  readonly message: JsonRecord & { readonly ts: string };
}

/** A person submits a modal. */
interface Submission {
  readonly user: SlackUser;
  readonly view: ShownView;
  readonly values: FormValues;
}

/** What people do outside of messages: shortcuts, modals, the Home tab. */
export class SlackDialogs {
  readonly #app: SlackApp;
  readonly #workspaceOf: (user: SlackUser) => SlackWorkspace;

  constructor(app: SlackApp, workspaceOf: (user: SlackUser) => SlackWorkspace) {
    this.#app = app;
    this.#workspaceOf = workspaceOf;
  }

  sendShortcut(url: string, shortcut: Shortcut): Promise<Response> {
    const { user } = shortcut;
    const workspace = this.#workspaceOf(user);
    const channel = workspace.channel(shortcut.channel);
    const facts = { ...shortcut, channel, triggerId: this.newTrigger(user) };
    return this.#send(url, shortcutPayload(workspace, this.#app, facts));
  }

  sendSubmission(url: string, submission: Submission): Promise<Response> {
    const { user } = submission;
    const facts = { ...submission, triggerId: this.newTrigger(user) };
    return this.#send(url, submissionPayload(this.#workspaceOf(user), this.#app, facts));
  }

  sendHomeButton(url: string, user: SlackUser, actionId: string): Promise<Response> {
    const press = { actionId, user, triggerId: this.newTrigger(user) };
    return this.#send(url, homeButtonPayload(this.#workspaceOf(user), this.#app, press));
  }

  /** The views that a person has seen, oldest first: modals and the Home tab. */
  viewsOf(user: SlackUser): ShownView[] {
    const views = this.#workspaceOf(user).views();
    return views.filter(({ userId }) => userId === user.id);
  }

  newTrigger(user: SlackUser): string {
    const triggerId = newTriggerId();
    this.#workspaceOf(user).addTrigger(triggerId, user, this.#app);
    return triggerId;
  }

  #send(url: string, payload: JsonRecord): Promise<Response> {
    const delivery = { signingSecret: this.#app.signingSecret };
    return sendSlackForm(url, { payload: JSON.stringify(payload) }, delivery);
  }
}

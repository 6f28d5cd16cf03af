import type { TeamId } from "../../basics/ids.ts";

/** A workspace, organisation or account of an outside system that an adapter connects to Errand. */
export interface Installation {
  readonly id: string;
  readonly teamId: TeamId;
  readonly adapter: string;
  /** The platform's own id. */
  readonly externalId: string;
  readonly name?: string;
  /** false: messages from there are refused, and the thread shows the reason. */
  readonly enabled: boolean;
  /** The team that owns the installation once one of its administrators accepts it. */
  readonly offeredTo?: TeamId;
  /** Why the platform refuses the app there, and what an operator can do. Absent: it works, as far as is known. */
  readonly problem?: string;
  readonly createdAt: Date;
}

/**
 * How an operator connects an external platform with this server. The adapter of the platform writes it, with the
 * addresses of this server, and the pages show it.
 */
export interface InstallationGuide {
  readonly adapter: string;
  /** The platform's name. */
  readonly title: string;
  /** Whether the variables of the adapter are set, or stored. */
  readonly enabled: boolean;
  /** Why its stored settings do not switch the adapter on. */
  readonly problem?: string;
  /** Where an administrator installs the app in a workspace. Absent: the platform or the server is not set up for that. */
  readonly installUrl?: string;
  /** The page that creates the app. Absent: it exists, or cannot be created in that way. */
  readonly create?: GuideCreation;
  /** How a token of the operator creates and updates the app. Absent: that is not possible. */
  readonly managed?: {
    readonly isCreated: boolean;
    readonly text: string;
    readonly link: { readonly title: string; readonly url: string };
  };
  /** The operator follows the steps of one of them. */
  readonly ways: readonly GuideWay[];
  /** What the server asks for on the platform, and why. */
  readonly needs: readonly GuideNeed[];
}

export interface GuideCreation {
  /** Where the form of these inputs leads. */
  readonly url: string;
  readonly title: string;
  readonly text: string;
  readonly inputs: readonly { readonly name: string; readonly label: string }[];
}

export interface GuideWay {
  readonly title: string;
  readonly summary: string;
  /** Why this way does not work with the present address of the server, and what to change. */
  readonly obstacle?: string;
  readonly steps: readonly GuideStep[];
}

export interface GuideStep {
  readonly title: string;
  readonly text: string;
  readonly links?: readonly GuideLink[];
  /** Texts to copy. */
  readonly snippets?: readonly { readonly title: string; readonly text: string }[];
  /** Variables of the server to set, and where the platform shows their values. */
  readonly variables?: readonly GuideVariable[];
}

export interface GuideLink {
  readonly title: string;
  /** Contains `{input}` if `input` is present. */
  readonly url: string;
  /** The label of a text that the operator enters. */
  readonly input?: string;
}

export interface GuideVariable {
  readonly name: string;
  readonly source: string;
}

export const GUIDE_NEED_KINDS = ["scope", "permission", "event"] as const;

export interface GuideNeed {
  readonly kind: (typeof GUIDE_NEED_KINDS)[number];
  readonly name: string;
  readonly access?: "read" | "write";
  readonly use: string;
}

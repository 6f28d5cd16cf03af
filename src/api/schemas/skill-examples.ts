/** Shown in the OpenAPI document. A test holds each against its schema. */
const RUN_SKILL_EXAMPLE = {
  name: "release-notes",
  description: "Writes the release notes of a version.",
  full_path: ".agents/skills/release-notes/SKILL.md",
};

export const AGENT_SKILL_EXAMPLE = {
  name: RUN_SKILL_EXAMPLE.name,
  variants: [
    {
      id: `acme/tools:${RUN_SKILL_EXAMPLE.full_path}`,
      base_prompt: "Read the log since the last tag, and write the notes into CHANGES.md.",
      description: RUN_SKILL_EXAMPLE.description,
      environments: [{ uid: "3kTg9mWqLx0ZbY7cRf5VnH", name: "tools" }],
      source: { owner: "acme", name: "tools", skill_path: RUN_SKILL_EXAMPLE.full_path },
      last_run_timestamp: "2026-03-01T09:00:00.000Z",
    },
  ],
};

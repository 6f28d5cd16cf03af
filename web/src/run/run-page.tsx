export function RunPage({
  runId,
}: {
  readonly runId: string;
  readonly guest: boolean;
  readonly mayFollowUp: boolean;
}) {
  return <p>{runId}</p>;
}

/** The page that sends an administrator to the platform of this adapter, to install its app there. */
export function installPath(adapter: string): string {
  return `/setup/${adapter}/install`;
}

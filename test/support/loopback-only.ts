const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/**
 * A `fetch` for the Slack and GitHub clients of a test. An address outside this machine is an error, not a request.
 */
export const loopbackOnlyFetch: typeof fetch = async (input, init) => {
  const { hostname } = new URL(input instanceof Request ? input.url : input);
  if (!LOOPBACK.test(hostname)) {
    throw new Error(`A test tried to reach ${hostname}; only loopback addresses are allowed`);
  }
  return fetch(input, init);
};

// Errors of queries, with remedies.

/** A failed query. status is the HTTP status, or 0 without a response. */
export class Problem extends Error {
  readonly status: number;
  /** The remedy, as a sentence. */
  readonly remedy: string;
  /** For status 503: seconds until a retry. */
  readonly retryAfter: number;

  constructor(status: number, text: string, retryAfter = 0) {
    super(text);
    this.status = status;
    this.retryAfter = retryAfter;
    this.remedy = remedyOf(status);
  }
}

/** Reports whether an error is a cancelled query, which screens do not show. */
export function isCancelled(error: unknown): boolean {
  return error instanceof DOMException && error.name == 'AbortError';
}

function remedyOf(status: number): string {
  switch (status) {
    case 0:
      return 'The daemon does not respond. Check that it is running and that this is still its private address.';
    case 400:
      return 'The query is not valid. Change it.';
    case 401:
      return 'Log in to see this.';
    case 403:
      return 'Your login does not permit this query. The operator of the daemon can grant it in the --access file.';
    case 404:
      return 'This daemon does not have the data.';
    case 422:
      return 'The query is too large. Narrow it: one page, a shorter time range or fewer nodes.';
    case 429:
    case 503:
      return 'The daemon is busy. This query is retried automatically.';
    case 504:
      return 'The query took too long. Narrow it: a shorter time range, one page or one release.';
    default:
      return 'Try again. If it fails again, see the log of the daemon.';
  }
}

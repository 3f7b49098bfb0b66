// What went wrong with a question, and what to do about it.

/** Why a question has no answer. status is that of HTTP, 0 if nothing answered. */
export class Problem extends Error {
  readonly status: number;
  /** What to do about it, as a sentence. */
  readonly remedy: string;
  /** For 503: after how many seconds to ask again. */
  readonly retryAfter: number;

  constructor(status: number, text: string, retryAfter = 0) {
    super(text);
    this.status = status;
    this.retryAfter = retryAfter;
    this.remedy = remedyOf(status);
  }
}

/** Whether an error says that a question was cancelled, which is no problem. */
export function isCancelled(error: unknown): boolean {
  return error instanceof DOMException && error.name == 'AbortError';
}

function remedyOf(status: number): string {
  switch (status) {
    case 0:
      return 'The daemon does not answer. Check that it runs and that this address is still its private one.';
    case 400:
      return 'Change what is asked for.';
    case 401:
      return 'Log in to see it.';
    case 403:
      return 'Who you are logged in as may not ask this. Whoever runs the daemon can grant it in its --access file.';
    case 404:
      return 'This daemon does not have it.';
    case 422:
      return 'Ask for less: one page, a shorter time, fewer nodes.';
    case 429:
    case 503:
      return 'Many questions are being answered. This one is asked again by itself.';
    case 504:
      return 'Narrow the question: a shorter time, one page or one release.';
    default:
      return 'Try again. If it stays, the log of the daemon says more.';
  }
}

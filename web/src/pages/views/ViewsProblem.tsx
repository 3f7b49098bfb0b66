// Errors of queries for single page views.

import type { Problem } from '../../api/problem.ts';
import { linkHere, linkTo } from '../../state/url.ts';
import { useView } from '../../state/view.ts';
import { Notice } from '../../widgets/Notice.tsx';

/** Explains an error, with its remedy. */
export function ViewsProblem({ problem }: { problem: Problem }) {
  const { place, selection } = useView();
  if (problem.status == 403) {
    return (
      <Notice>
        <p>
          A single page view is one person’s visit, so it needs its own permission: the scope <code>views</code>. The
          operator of the daemon can add it to the <code>scopes</code> of your user or token in the{' '}
          <code>--access</code> file:
        </p>
        <pre>scopes: [query, views]</pre>
        <p>
          See “Access” in <code>docs/operations.md</code>. Everything else about{' '}
          <a href={linkTo(place, selection.page ? 'page' : '', { page: selection.page, feature: selection.feature })}>
            this selection
          </a>{' '}
          is visible without it.
        </p>
      </Notice>
    );
  }
  if (problem.status == 404) {
    return (
      <Notice>
        <p>
          Traces are kept for a limited time (<code>--retention</code>), their rollups for longer. A page view whose
          traces have expired is gone. It may also be outside the selected time or page.
        </p>
        <p>
          <a href={linkTo(place, 'views', { page: selection.page, feature: selection.feature })}>
            Show the page views that exist
          </a>
        </p>
      </Notice>
    );
  }
  if (problem.status == 400 && /traces/.test(problem.message)) {
    return (
      <Notice>
        <p>
          Single page views are read from traces, at most 20,000 of them, which are kept for a shorter time than rollups
          (<code>--retention</code>).{' '}
          <a href={linkHere(place, { since: '24h', until: '' })}>Select the last 24 hours</a>, one page or one release.
        </p>
      </Notice>
    );
  }
  return null;
}

// What to do where single page views can not be shown.

import type { Problem } from '../../api/problem.ts';
import { linkHere, linkTo } from '../../state/url.ts';
import { useView } from '../../state/view.ts';
import { Notice } from '../../widgets/Notice.tsx';

/** Says what a problem with single page views means, and what helps. */
export function ViewsProblem({ problem }: { problem: Problem }) {
  const { place, selection } = useView();
  if (problem.status == 403) {
    return (
      <Notice>
        <p>
          A single page view is one person’s visit, so looking at it takes a permission of its own: the scope <code>views</code>. Whoever
          runs the daemon adds it to the <code>scopes</code> of your user or token in the file of <code>--access</code>:
        </p>
        <pre>scopes: [query, views]</pre>
        <p>
          See “Access” in <code>docs/operations.md</code>. All else about{' '}
          <a href={linkTo(place, selection.page ? 'page' : '', { page: selection.page, feature: selection.feature })}>this selection</a> can
          be seen without it.
        </p>
      </Notice>
    );
  }
  if (problem.status == 404) {
    return (
      <Notice>
        <p>
          Traces are kept for a time only (<code>--retention</code>), and sums of them for longer. A page view whose traces are over is gone;
          it may also lie outside of the time or the page that is selected.
        </p>
        <p>
          <a href={linkTo(place, 'views', { page: selection.page, feature: selection.feature })}>To the page views that there are</a>
        </p>
      </Notice>
    );
  }
  if (problem.status == 400 && /traces/.test(problem.message)) {
    return (
      <Notice>
        <p>
          Single page views are told by their traces, which are kept for a shorter time than sums (<code>--retention</code>), and looked for
          in 20,000 at most.{' '}
          <a href={linkHere(place, { since: '24h', until: '' })}>Ask for the last 24 hours</a>, for one page or one release.
        </p>
      </Notice>
    );
  }
  return null;
}

// The message for a selection without page views.

import { catalog, series } from '../../api/queries.ts';
import type { Catalog } from '../../api/types.ts';
import { useQuery } from '../../state/responses.ts';
import { linkTo } from '../../state/url.ts';
import { useView } from '../../state/view.ts';
import { Notice } from '../../widgets/Notice.tsx';
import { moment, plural } from '../../widgets/numbers.ts';
import { storedOf } from './chart.ts';
import { PlaceLink, Text } from './names.tsx';

/** A hint that data exists outside the selected time or labels. */
export function NothingNow() {
  const { place, selection, from, to } = useView();
  useQuery(series(selection, { step: 'all' }), 5_000);
  const { response: stored } = useQuery(catalog());
  const { page, feature, release, label } = selection;
  const never = (
    [
      ['page', page],
      ['feature', feature],
      ['release', release],
    ] as const
  ).find(
    ([kind, name]) => name && stored && !storedOf(stored, { page: '', feature: '', release: '', [kind]: name }).traces,
  );
  const named = [
    page && `page ${page}`,
    feature && `feature ${feature}`,
    release && `release ${release}`,
    ...label,
  ].filter(Boolean);
  return (
    <div class="page">
      <h1>No page views</h1>
      <Notice>
        <p>
          {never ? (
            <>
              There is no {never[0]} <Text>{never[1]}</Text>.
            </>
          ) : (
            <>
              No page views from {moment(from)} to {moment(to)}
              {named.length > 0 && ' with '}
              <Text length={300}>{named.join(', ')}</Text>.
            </>
          )}
        </p>
        {never?.[0] == 'page' && <PagesWithData stored={stored!} />}
        {!never && (
          <p>
            <a href={linkTo(place, place.route, { since: '30d', until: '', label: [], release: '', page, feature })}>
              Show all page views of the last 30 days
            </a>
          </p>
        )}
      </Notice>
    </div>
  );
}

/** Maximum number of listed pages. */
const mostNamed = 8;

function PagesWithData({ stored }: { stored: Catalog }) {
  const { place } = useView();
  const pages = [...new Set(stored.entries.filter(({ kind }) => kind == 'page').map((one) => one.page))];
  return (
    <p>
      Pages with data:{' '}
      {pages.slice(0, mostNamed).map((name, i) => (
        <>
          {i > 0 && ', '}
          <PlaceLink kind="page" name={name} />
        </>
      ))}
      {pages.length > mostNamed && (
        <>
          {' and '}
          <a href={linkTo(place, 'pages')}>{plural(pages.length - mostNamed, 'more', 'more')}</a>
        </>
      )}
      .
    </p>
  );
}

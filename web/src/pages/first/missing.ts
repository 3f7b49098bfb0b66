// Reasons why no page view has arrived, from the requests that the daemon has received.

import type { Arrivals } from '../../api/types.ts';
import { plural } from '../../widgets/numbers.ts';

/** A reason why page views do not arrive: the observation and the remedy. */
export interface Missing {
  seen: string;
  fix: string;
  /** A command or flag to copy. */
  command?: string;
}

/** Observations and remedies for page views without a profile, by outcome. */
const outcomes: Record<string, { seen: string; fix: string }> = {
  header: {
    seen: 'none profiled: the header Document-Policy is missing.',
    fix: 'Do step 1, and check the header of the document itself in the Network panel of the browser.',
  },
  unsupported: {
    seen: 'none profiled: the browser has no JavaScript profiler, like Firefox and Safari.',
    fix: 'Open the site in Chrome or Edge.',
  },
  unsampled: {
    seen: 'not selected by the sampleRate of fieldtrie.start.',
    fix: 'Set sampleRate: 1 while you try it.',
  },
  quota: {
    seen: 'not profiled: the browser runs too many profilers already.',
    fix: 'Close other tabs of the site, and load the page again.',
  },
  refused: {
    seen: 'not profiled: the browser sends Global Privacy Control, and honourGPC is set.',
    fix: 'Use a browser that does not send it.',
  },
  stopped: {
    seen: 'not profiled: the --sampling file sets the rate of their page to 0.',
    fix: 'Set a higher rate in that file.',
  },
  cost: {
    seen: 'stopped: profiling took more of the main thread than maxCost allows.',
    fix: 'Raise maxCost of fieldtrie.start while you try it.',
  },
  error: {
    seen: 'not profiled: the script failed.',
    fix: 'Look at the console of the browser.',
  },
};

function ofRefused({ reason, origin, error, requests }: NonNullable<Arrivals['refused']>[number]): Missing {
  const were = `${plural(requests, 'request')} ${requests == 1 ? 'was' : 'were'} refused`;
  if (reason == 'origin' && origin) {
    const seen = `${were}, blocked by CORS: the origin ${origin} is not allowed.`;
    if (!error.includes('--allow-origin')) return { seen, fix: 'Add it to the origins of its key in the --keys file.' };
    return {
      seen,
      fix: 'Restart the daemon with this flag, in addition to the origins that are already allowed:',
      command: `--allow-origin ${origin}`,
    };
  }
  if (reason == 'key') {
    return {
      seen: `${were}: no key, or an unknown one.`,
      fix: 'Pass one of the keys of the daemon to fieldtrie.start.',
    };
  }
  return { seen: `${were}: ${error}.`, fix: 'The metric fieldtrie_ingest_refused_total counts them.' };
}

/** Returns the reasons why page views do not arrive, most recent first. */
export function missing({ url, scripts, traces, unprofiled = [], refused = [] }: Arrivals): Missing[] {
  if (!scripts) return []; // absent for users with access to only some pages
  const all: (Missing & { last: string })[] = [
    ...refused.map((one) => ({ last: one.last, ...ofRefused(one) })),
    ...unprofiled.map(({ outcome, views, last }) => {
      const { seen, fix } = outcomes[outcome] ?? { seen: `not profiled: ${outcome}.`, fix: '' };
      return { last, seen: `${plural(views, 'page view')} reported, ${seen}`, fix };
    }),
  ].sort((a, b) => (a.last < b.last ? 1 : -1));
  if (all.length || traces) return all;
  if (!scripts.count) {
    return [
      {
        seen: 'Nothing has been received yet: no browser has loaded the script.',
        fix:
          `If you have opened the site, check that its document includes the script of step 2, and that this ` +
          `browser can reach ${url}/sdk.js.`,
      },
    ];
  }
  return [
    {
      seen:
        `The script was loaded ${scripts.count == 1 ? 'once' : plural(scripts.count, 'time')}, but no page ` +
        `view has been reported.`,
      fix:
        'A profile is sent when the visitor leaves the page, or after a minute: close the tab of the site. If ' +
        'nothing arrives, check that fieldtrie.start has sampleRate: 1, and look for errors in the console of the ' +
        'browser, such as a violated Content-Security-Policy.',
    },
  ];
}

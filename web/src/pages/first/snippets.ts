// Snippets to set up a site: the header for each server, and the script.

import type { Arrivals } from '../../api/types.ts';

/** A text to paste, with its name. */
export interface Snippet {
  name: string;
  /** Where to paste it, as a sentence. */
  where: string;
  text: string;
  /** Commands to run first. */
  first?: string;
  /** Further remarks. */
  note?: string;
}

const header = 'Document-Policy';
const value = 'js-profiling, js-profiling-mode=lazy';

const vercel = { headers: [{ source: '/(.*)', headers: [{ key: header, value }] }] };

/** The header that lets a browser profile a page, by server. */
export const headers: readonly Snippet[] = [
  { name: 'Plain', where: 'Every document needs this response header.', text: `${header}: ${value}` },
  {
    name: 'nginx',
    where: 'In the server block of the site.',
    text: `add_header ${header} "${value}";`,
    note: 'A location with its own add_header does not inherit this one: repeat it there.',
  },
  {
    name: 'Caddy',
    where: 'In the Caddyfile.',
    text: `www.example.com {\n\theader ${header} "${value}"\n\t# other directives of the site\n}`,
  },
  {
    name: 'Express',
    where: 'Before the routes, and before express.static.',
    text: `app.use((req, res, next) => {\n  res.set('${header}', '${value}');\n  next();\n});`,
  },
  {
    name: 'Next',
    where: 'In next.config.mjs or next.config.ts.',
    text: `export default {
  async headers() {
    return [
      {
        source: '/(.*)',
        headers: [{ key: '${header}', value: '${value}' }],
      },
    ];
  },
};`,
    note: 'With output: "export", Next has no server: use the tab of the server that serves the files.',
  },
  { name: 'Vercel', where: 'In vercel.json.', text: JSON.stringify(vercel, null, 2) },
  {
    name: 'Cloudflare',
    where: 'In the file _headers in the folder of static assets, for Pages and Workers.',
    text: `/*\n  ${header}: ${value}`,
    note:
      'For responses of a function or a server behind Cloudflare: Rules, Create rule, Response Header ' +
      'Transform Rule, “Set static” with the name and the value above.',
  },
];

/** The address to which a page sends, and the key. */
export type Destination = Pick<Arrivals, 'url' | 'key'>;

function options({ url, key }: Destination): string {
  return `
    url: '${url}',${key ? `\n    key: '${key}',` : ''}
    release: '1.0.0',
    sampleRate: 1, // all page views; 0.05 is one in twenty, enough for most sites
  `;
}

/** The script for a page or a bundler. */
export function scripts(to: Destination): Snippet[] {
  return [
    {
      name: 'Script tag',
      where: 'In the head of the pages, before other scripts.',
      text:
        `<script src="${to.url}/sdk.js" crossorigin="anonymous"></script>\n<script>\n  ` +
        `fieldtrie.start({${options(to)}});\n</script>`,
    },
    {
      name: 'npm',
      where: 'At the start of the app, after installing the package.',
      first: `npm install ${to.url}/sdk.tgz`,
      text: `import { start } from 'fieldtrie/loader';\nstart({${options(to).replaceAll('\n  ', '\n')}});`,
    },
  ];
}

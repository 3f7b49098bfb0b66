// Export of the selection for other tools.

import { paramsOf } from '../../api/selection.ts';
import { useView } from '../../state/view.ts';
import { Popover } from '../../widgets/Popover.tsx';

const formats = [
  ['pprof', 'pb.gz', 'pprof, for go tool pprof'],
  ['cpuprofile', 'cpuprofile', '.cpuprofile, for DevTools and VS Code'],
  ['speedscope', 'speedscope.json', 'speedscope'],
  ['html', 'html', 'HTML, one file to share'],
  ['svg', 'svg', 'SVG'],
  ['csv', 'csv', 'CSV of functions'],
  ['json', 'json', 'JSON of functions'],
] as const;

/** A menu of export formats. */
export function Export() {
  const { selection } = useView();
  const subject = selection.feature || selection.page;
  const name = subject
    .replace(/[^\w-]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 60);
  return (
    <Popover button="Export">
      {() => (
        <ul class="menu">
          {formats.map(([format, ending, title]) => {
            const params = paramsOf(selection);
            params.set('format', format);
            return (
              <li key={format}>
                <a href={`./api/v1/profile?${params}`} download={`${name || 'profile'}.${ending}`}>
                  {title}
                </a>
              </li>
            );
          })}
        </ul>
      )}
    </Popover>
  );
}

import { catalog } from '../../api/queries.ts';
import { useQuery, useSettled } from '../../state/responses.ts';
import { Notice } from '../../widgets/Notice.tsx';

/** Says on each page of a demo what is in it. */
export function Demo() {
  const settled = useSettled();
  const { response } = useQuery(settled ? catalog() : undefined);
  if (!response?.demo) return null;
  return (
    <div class="demo">
      <Notice>
        <span>
          {response.demo} <a href="./docs/demo.html">What else is in it</a>
        </span>
      </Notice>
    </div>
  );
}

import dynamic from 'next/dynamic';

const Client = dynamic(() => import('../src/Client'), { ssr: false });

/** All pages. */
export default function Page() {
  return <Client />;
}

import Page from '../built/page';

/** Rendered at each request. */
export const dynamic = 'force-dynamic';
export default Page;

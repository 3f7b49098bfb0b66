import { lazy, Suspense, useEffect } from 'react';
import { NavLink, Outlet, Route, Routes } from 'react-router';
import { installListeners } from './lib/listeners';
import Detail from './pages/Detail';
import List from './pages/List';
import { useShipments } from './state';

const Report = lazy(() => import('./pages/Report'));

function Layout() {
  const load = useShipments((state) => state.load);
  useEffect(() => {
    void load(20_000);
  }, [load]);
  useEffect(() => installListeners(document), []);
  return (
    <>
      <nav>
        <NavLink to="/" end>Shipments</NavLink> <NavLink to="/report">Report</NavLink>
      </nav>
      <Suspense fallback={<p>…</p>}>
        <Outlet />
      </Suspense>
    </>
  );
}

export function App() {
  return (
    <Routes>
      <Route element={<Layout />}>
        <Route index element={<List />} />
        <Route path="shipments/:id" element={<Detail />} />
        <Route path="report" element={<Report />} />
      </Route>
    </Routes>
  );
}

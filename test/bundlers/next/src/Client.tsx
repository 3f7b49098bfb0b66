import { BrowserRouter } from 'react-router';
import { App } from './App';

/** The app, which has its own router. */
export default function Client() {
  return (
    <BrowserRouter>
      <App />
    </BrowserRouter>
  );
}

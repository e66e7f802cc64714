import { createStore, credentialHeaders, credentials, isSignedIn } from '../state.ts';

/** Whether the gateway answers. An idle WebSocket tells at once when it no longer does, also while a view asks nothing. */
export const reachable = createStore(true);

export const PROBE_MS = 1000;
/** Where no WebSocket can be opened, requests alone tell. */
const REOPEN_MS = 10_000;

/** How often an open connection is asked for a sign, as one that hangs is not closed, and how long an answer may take. */
const BEAT_MS = 5000;

let socket: WebSocket | null = null;
let isProbing = false;

const answers = (): Promise<boolean> =>
  fetch('/health/live', { cache: 'no-store', signal: AbortSignal.timeout(BEAT_MS) }).then(
    () => true,
    () => false,
  );

/** Looks whether the gateway answers, again and again until it does. */
export const probe = async (reopenMs = 0): Promise<void> => {
  if (isProbing) return;
  isProbing = true;
  while (!(await answers())) {
    reachable.set(false);
    await new Promise((resolve) => setTimeout(resolve, PROBE_MS));
  }
  isProbing = false;
  reachable.set(true);
  setTimeout(open, reopenMs);
};

const open = (): void => {
  if (socket !== null || !isSignedIn(credentials.get())) return;
  const opened = new WebSocket(`${location.origin.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
  socket = opened;
  let isAccepted = false;
  let isHeard = true;
  const say = (type: string, payload = {}) => opened.send(JSON.stringify({ type, payload }));
  const beat = setInterval(() => {
    if (!isHeard) void probe();
    else if (isAccepted) say('ping');
    isHeard = !isAccepted;
  }, BEAT_MS);
  opened.onopen = () => say('connection_init', credentialHeaders());
  opened.onmessage = ({ data }) => {
    isHeard = true;
    const { type } = JSON.parse(String(data));
    isAccepted ||= type === 'connection_ack';
    if (type === 'ping') say('pong');
  };
  opened.onclose = () => {
    clearInterval(beat);
    socket = null;
    void probe(isAccepted ? 0 : REOPEN_MS);
  };
};

addEventListener('offline', () => void probe());
credentials.subscribe(open);
open();

/** Where Sentinels are, and which primary they are asked for. */
export type SentinelUrl = {
  /** A URL of each Sentinel, with the user and the password that Sentinels want. */
  readonly sentinels: readonly string[];
  /** Their hosts and ports, to be shown. */
  readonly hosts: readonly string[];
  /** The name that the Sentinels know the primary by. */
  readonly name: string;
  /** The URL of the primary at this host and port, with its user, its password and the database. */
  readonly primaryUrl: (host: string, port: string) => string;
};

const FORM =
  /^(?<scheme>rediss?)\+sentinel:\/\/(?:(?<user>[^@/?#]*)@)?(?<hosts>[^@/?#]+)\/(?<name>[^/?#]+)(?:\/(?<database>\d{0,3}))?(?:\?(?<query>[^#]*))?$/;
const DEFAULT_PORT = '26379';
const PARAMETERS = ['sentinel_username', 'sentinel_password'];

/**
 * Reads `redis+sentinel://user:password@host:port,host2:port2/name/database`; null for any other form. The user and the
 * password are those of the primary. The query's `sentinel_username` and `sentinel_password` are those of the Sentinels.
 * `rediss+sentinel://` uses TLS for both.
 */
export const parseSentinelUrl = (text: string): SentinelUrl | null => {
  const {
    scheme = '',
    user = '',
    hosts = '',
    name = '',
    database = '',
    query = '',
  } = FORM.exec(text)?.groups ?? {};
  const parameters = new URLSearchParams(query);
  const listed = hosts.split(',').map((host) => hostIn(`${scheme}://${host}`));
  if (scheme === '' || listed.includes(null) || !isDecodable(name) || !isDecodable(user)) return null;
  if ([...parameters.keys()].some((key) => !PARAMETERS.includes(key))) return null;
  const known = listed.filter((host) => host !== null);
  const [username, password] = PARAMETERS.map((key) => encodeURIComponent(parameters.get(key) ?? ''));
  const access = username || password ? `${username}:${password}@` : '';
  return {
    sentinels: known.map((host) => `${scheme}://${access}${host}`),
    hosts: known,
    name: decodeURIComponent(name),
    primaryUrl: (host, port) =>
      `${scheme}://${user && `${user}@`}${host.includes(':') ? `[${host}]` : host}:${port}/${database}`,
  };
};

/** The host and port of a URL that has nothing else; null otherwise. */
const hostIn = (url: string): string | null => {
  const { hostname = '', port = '', pathname = '' } = URL.parse(url) ?? {};
  return hostname === '' || pathname.length > 1 ? null : `${hostname}:${port || DEFAULT_PORT}`;
};

const isDecodable = (text: string): boolean => {
  try {
    return decodeURIComponent(text) !== '' || text === '';
  } catch {
    return false;
  }
};

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';

/** What gateways in tests check tokens with: never to be seen by a client or in a log. */
export const jwtSecret = 'shared-by-issuer-and-gateway-5e81c07d2f';

/** The environment of a gateway that takes such tokens, whoever made them and for whom. */
export const byToken = { AUTH: 'jwt', JWT_SECRET: jwtSecret };

export const ALL = 'wallets webhooks deliveries watch';

/** Of any type, as they come. */
type Claims = Record<string, unknown>;

type Signing = {
  readonly alg?: string;
  readonly kid?: string;
  readonly key?: Parameters<SignJWT['sign']>[0];
};

/** Alice's, with all scopes, for an hour. */
export const claimsOf = (claims: Claims = {}): Claims => ({
  iss: 'https://issuer.test',
  aud: 'gateway',
  sub: 'alice',
  scope: ALL,
  exp: Math.floor(Date.now() / 1000) + 3600,
  ...claims,
});

/** A token of these claims laid over `claimsOf`'s; an undefined one is left out. */
export const tokenOf = (claims: Claims = {}, { alg = 'HS256', kid, key }: Signing = {}): Promise<string> =>
  new SignJWT(claimsOf(claims) as JWTPayload)
    .setProtectedHeader({ alg, ...(kid !== undefined && { kid }) })
    .sign(key ?? new TextEncoder().encode(jwtSecret));

/** Claims of rights that end within three to four seconds: clocks are given five. */
export const expiringSoon = () => ({ exp: Math.floor(Date.now() / 1000) - 1 });

export const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

/** A key pair of an issuer's, whose public half can be published. */
export const issuerKey = async (kid: string, alg = 'ES256') => {
  const { publicKey, privateKey } = await generateKeyPair(alg);
  return {
    kid,
    publicKey,
    jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' },
    sign: (claims: Claims = {}) => tokenOf(claims, { alg, kid, key: privateKey }),
    /** Without saying which key it is. */
    signUnnamed: (claims: Claims = {}) => tokenOf(claims, { alg, key: privateKey }),
  };
};

/** An issuer that publishes keys, and can be made to fail. */
export const startIssuer = async (...published: unknown[]) => {
  const issuer = { keys: published, status: 200, fetches: 0, padding: 0 };
  const server = createServer((_request, response) => {
    issuer.fetches += 1;
    response.writeHead(issuer.status, { 'content-type': 'application/json' });
    response.end(`${JSON.stringify({ keys: issuer.keys })}${' '.repeat(issuer.padding)}`);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return Object.assign(issuer, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  });
};

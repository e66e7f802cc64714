import { expect, test } from 'vitest';
import { NAMES } from '../../src/config/table.ts';
import { NAMES_OF_SERVICE, unknownVariables } from '../../src/config/unknown-variables.ts';
import { folderOf } from '../support/folder.ts';
import { startGatewayProcess } from '../support/gateway/process.ts';
import { PROGRAM, spawnProgram } from '../support/gateway/spawn.ts';

/** Settings that have no effect because their names are misspelled, and old names, which have one. */

const secret = 'the-value-of-a-variable-may-be-a-secret';

const setTo = (names: Iterable<string>) => Object.fromEntries([...names].map((name) => [name, secret]));

/** Each name with what is meant. */
const MISSPELLED: Readonly<Record<string, string>> = {
  UPSTREM_URL: 'UPSTREAM_URL',
  UPSTREAM_URLS: 'UPSTREAM_URL',
  UPSTREAMURL: 'UPSTREAM_URL',
  upstream_url: 'UPSTREAM_URL',
  'UPSTREAM-URL': 'UPSTREAM_URL',
  USPTREAM_URL: 'UPSTREAM_URL',
  UPSTREAM_TIMOUT_MS: 'UPSTREAM_TIMEOUT_MS',
  UPSTREAM_TIMEOUT: 'UPSTREAM_TIMEOUT_MS',
  UPSTREM_TIMEOUT: 'UPSTREAM_TIMEOUT_MS',
  UPSTREAM_APIKEY: 'UPSTREAM_API_KEY',
  UPSTREAM_KEY: 'UPSTREAM_API_KEY',
  UPSTREAM_BASE_URL: 'UPSTREAM_URL',
  CHAIN: 'CHAINS',
  CHIANS: 'CHAINS',
  CHAINS_: 'CHAINS',
  START_BLOCKS: 'START_BLOCK',
  IPFS_GATWAY: 'IPFS_GATEWAY',
  PRICE: 'PRICES',
  DATADIR: 'DATA_DIR',
  CACHE_HEADMS: 'CACHE_HEAD_MS',
  CACHE_HEAD: 'CACHE_HEAD_MS',
  CACHE_BALANCE_MS: 'CACHE_BALANCES_MS',
  TRUSTED_DOCUMENT: 'TRUSTED_DOCUMENTS',
  MAX_COMPUTE_UNIT: 'MAX_COMPUTE_UNITS',
  JWT_SECRETS: 'JWT_SECRET',
  REDIS_URI: 'REDIS_URL',
  PUBLICURL: 'PUBLIC_URL',
  DELIVERY_RETENTION_DAYS: 'DELIVERY_RETENTION_HOURS',
  DELIVERY_SIGNING_SECRET: 'DELIVERY_SIGNATURE_SECRET',
  OTEL_TRACE_EXPORTER: 'OTEL_TRACES_EXPORTER',
  AUTH_: 'AUTH',
  port: 'PORT',
};

test.each(Object.entries(MISSPELLED))('%s is unknown, and %s is meant', (name, meant) => {
  expect(unknownVariables({ [name]: secret })).toEqual([{ name, meant }]);
  expect(unknownVariables({ [name]: '' })).toEqual([]);
});

test('a variable that lacks a letter, has one twice or two in the other order is near itself or another', () => {
  const long = NAMES.filter((name) => name.length > 5);
  const typos = long.flatMap((name) =>
    Array.from(name, (letter, at) => [
      name.slice(0, at) + name.slice(at + 1),
      name.slice(0, at) + letter + name.slice(at),
      name.slice(0, at) + (name[at + 1] ?? '') + letter + name.slice(at + 2),
    ]).flat(),
  );
  const known = new Set<string>([...NAMES, ...NAMES_OF_SERVICE]);
  const wrong = typos.filter((name) => !known.has(name));
  expect(wrong.length).toBeGreaterThan(3_500);
  expect(wrong.filter((name) => unknownVariables({ [name]: 'x' }).length === 0)).toEqual([]);
});

/** What Kubernetes sets for services that are called like a part of a variable. */
const SERVICE_LINKS = [
  'redis',
  'redis-cache',
  'cache',
  'upstream',
  'upstream-api',
  'delivery',
  'chains',
  'data',
]
  .map((service) => service.toUpperCase().replaceAll('-', '_'))
  .flatMap((service) =>
    [
      ...['_SERVICE_HOST', '_SERVICE_PORT', '_SERVICE_PORT_HTTP', '_PORT', '_PORT_6379_TCP'],
      ...['_PORT_6379_TCP_PROTO', '_PORT_6379_TCP_PORT', '_PORT_6379_TCP_ADDR', '_PORT_53_UDP_ADDR'],
    ].map((rest) => `${service}${rest}`),
  );

/** Names that are in the environments of ordinary programs, by who sets them. */
const ORDINARY: Readonly<Record<string, string>> = {
  shells: `_ BASH BASHOPTS BASH_ENV BASH_VERSION CDPATH COLORTERM COLUMNS DIRSTACK EDITOR ENV EUID FCEDIT FPATH GROUP GROUPS HISTFILE
    HISTSIZE HOME HOSTNAME HOSTTYPE IFS INFOPATH INPUTRC LANG LANGUAGE LC_ALL LC_COLLATE LC_CTYPE LC_MESSAGES LESS LESSOPEN LINENO LINES
    LOGNAME LS_COLORS MACHTYPE MAIL MAILCHECK MAILPATH MANPATH OLDPWD OPTIND OSTYPE PAGER PATH PIPESTATUS PPID PROMPT PROMPT_COMMAND PS1
    PS2 PS4 PWD RANDOM REMOTEHOST SECONDS SHELL SHELLOPTS SHLVL SUDO_COMMAND SUDO_USER TERM TERMINFO TERM_PROGRAM TERM_SESSION_ID TMOUT
    TMP TMPDIR TEMP TZ UID USER USERNAME VENDOR VISUAL ZDOTDIR ZSH`,
  desktops: `DBUS_SESSION_BUS_ADDRESS DESKTOP_SESSION DISPLAY GDK_BACKEND GPG_AGENT_INFO GTK_MODULES ICEAUTHORITY QT_QPA_PLATFORM
    SESSION_MANAGER SSH_AGENT_PID SSH_AUTH_SOCK SSH_CLIENT SSH_CONNECTION SSH_TTY WAYLAND_DISPLAY WINDOWID XAUTHORITY XDG_CACHE_HOME
    XDG_CONFIG_DIRS XDG_CONFIG_HOME XDG_DATA_DIRS XDG_DATA_HOME XDG_RUNTIME_DIR XDG_SESSION_ID XDG_SESSION_TYPE XDG_STATE_HOME
    XPC_FLAGS XPC_SERVICE_NAME __CF_USER_TEXT_ENCODING WSLENV WSL_DISTRO_NAME WT_SESSION APPDATA COMPUTERNAME COMSPEC SYSTEMROOT WINDIR`,
  systemd: `CACHE_DIRECTORY CONFIGURATION_DIRECTORY CREDENTIALS_DIRECTORY INVOCATION_ID JOURNAL_STREAM LISTEN_FDS LISTEN_PID
    LOGS_DIRECTORY MAINPID MEMORY_PRESSURE_WATCH NOTIFY_SOCKET RUNTIME_DIRECTORY STATE_DIRECTORY SYSTEMD_EXEC_PID WATCHDOG_USEC`,
  'Node and its tools': `COREPACK_HOME FORCE_COLOR INIT_CWD NO_COLOR NODE NODE_AUTH_TOKEN NODE_COMPILE_CACHE NODE_DEBUG NODE_EXTRA_CA_CERTS
    NODE_OPTIONS NODE_PATH NODE_PENDING_DEPRECATION NODE_REPL_HISTORY NODE_TLS_REJECT_UNAUTHORIZED NODE_V8_COVERAGE NODE_VERSION NPM_TOKEN
    NVM_BIN NVM_DIR PNPM_HOME UV_THREADPOOL_SIZE VOLTA_HOME YARN_VERSION npm_command npm_config_cache npm_config_globalconfig
    npm_config_local_prefix npm_config_node_gyp npm_config_prefix npm_config_user_agent npm_config_userconfig npm_execpath
    npm_lifecycle_event npm_lifecycle_script npm_node_execpath npm_package_json npm_package_name npm_package_version MALLOC_ARENA_MAX
    MALLOC_MMAP_THRESHOLD_ LD_PRELOAD LD_LIBRARY_PATH SSL_CERT_FILE SSL_CERT_DIR VITEST VITEST_POOL_ID VITEST_WORKER_ID TEST DEV PROD MODE`,
  proxies: `ALL_PROXY FTP_PROXY HTTPS_PROXY HTTP_PROXY NO_PROXY all_proxy ftp_proxy http_proxy https_proxy no_proxy`,
  'CI systems': `CI CONTINUOUS_INTEGRATION BUILD_ID BUILD_NUMBER BUILD_URL BUILD_TAG BUILD_CAUSE EXECUTOR_NUMBER JENKINS_HOME JENKINS_URL
    JOB_NAME JOB_URL NODE_LABELS NODE_NAME STAGE_NAME WORKSPACE WORKSPACE_TMP GITHUB_ACTION GITHUB_ACTIONS GITHUB_ACTOR GITHUB_API_URL
    GITHUB_BASE_REF GITHUB_ENV GITHUB_EVENT_NAME GITHUB_EVENT_PATH GITHUB_GRAPHQL_URL GITHUB_HEAD_REF GITHUB_JOB GITHUB_OUTPUT GITHUB_PATH
    GITHUB_REF GITHUB_REPOSITORY GITHUB_RUN_ID GITHUB_SERVER_URL GITHUB_SHA GITHUB_STEP_SUMMARY GITHUB_TOKEN GITHUB_WORKFLOW
    GITHUB_WORKSPACE RUNNER_ARCH RUNNER_DEBUG RUNNER_NAME RUNNER_OS RUNNER_TEMP RUNNER_TOOL_CACHE ACTIONS_CACHE_URL ACTIONS_RUNTIME_TOKEN
    ACTIONS_RUNTIME_URL ACTIONS_RESULTS_URL ImageOS ImageVersion CI_API_V4_URL CI_BUILDS_DIR CI_COMMIT_BRANCH CI_COMMIT_SHA
    CI_CONCURRENT_ID CI_ENVIRONMENT_NAME CI_JOB_ID CI_JOB_TOKEN CI_JOB_URL CI_NODE_TOTAL CI_PAGES_URL CI_PIPELINE_ID CI_PIPELINE_SOURCE
    CI_PROJECT_DIR CI_PROJECT_NAME CI_PROJECT_URL CI_REGISTRY CI_REGISTRY_IMAGE CI_REGISTRY_PASSWORD CI_REPOSITORY_URL CI_RUNNER_ID
    CI_SERVER_HOST CI_SERVER_PORT CI_SERVER_URL CI_SHARED_ENVIRONMENT GITLAB_CI GITLAB_FEATURES GITLAB_USER_LOGIN FF_USE_FASTZIP CACHE_PATH
    CACHE_FALLBACK_KEY CACHE_COMPRESSION_LEVEL TRANSFER_METER_FREQUENCY CIRCLECI CIRCLE_BRANCH CIRCLE_BUILD_URL CIRCLE_JOB CIRCLE_SHA1
    CIRCLE_WORKFLOW_ID TRAVIS TRAVIS_BRANCH TRAVIS_BUILD_DIR TRAVIS_JOB_ID BUILDKITE BUILDKITE_AGENT_NAME BUILDKITE_BUILD_URL
    BUILDKITE_COMMIT DRONE DRONE_BRANCH APPVEYOR TEAMCITY_VERSION BITBUCKET_BRANCH BITBUCKET_COMMIT CODEBUILD_BUILD_ID TF_BUILD
    AGENT_BUILDDIRECTORY AGENT_ID AGENT_JOBNAME SYSTEM_ACCESSTOKEN SYSTEM_TEAMPROJECT BUILD_SOURCEBRANCH`,
  'clouds and platforms': `AWS_ACCESS_KEY_ID AWS_CONTAINER_CREDENTIALS_RELATIVE_URI AWS_DEFAULT_REGION AWS_EXECUTION_ENV AWS_LAMBDA_FUNCTION_NAME
    AWS_REGION AWS_ROLE_ARN AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN AWS_STS_REGIONAL_ENDPOINTS AWS_WEB_IDENTITY_TOKEN_FILE
    ECS_CONTAINER_METADATA_URI ECS_CONTAINER_METADATA_URI_V4 ECS_AGENT_URI AZURE_CLIENT_ID AZURE_TENANT_ID AZURE_FEDERATED_TOKEN_FILE
    AZURE_AUTHORITY_HOST IDENTITY_ENDPOINT IDENTITY_HEADER MSI_ENDPOINT MSI_SECRET WEBSITE_HOSTNAME WEBSITE_SITE_NAME
    GOOGLE_APPLICATION_CREDENTIALS GOOGLE_CLOUD_PROJECT GCP_PROJECT GCLOUD_PROJECT K_CONFIGURATION K_REVISION K_SERVICE CLOUD_RUN_JOB
    CLOUD_RUN_TASK_INDEX FUNCTION_TARGET GAE_SERVICE DYNO HEROKU_APP_ID HEROKU_SLUG_COMMIT DATABASE_URL REDIS_TLS_URL REDIS_HOST REDIS_PORT
    REDIS_PASSWORD REDIS_USERNAME REDIS_DB WEB_CONCURRENCY FLY_ALLOC_ID FLY_APP_NAME FLY_MACHINE_ID FLY_PRIVATE_IP FLY_PUBLIC_IP FLY_REGION
    PRIMARY_REGION RENDER RENDER_EXTERNAL_HOSTNAME RENDER_EXTERNAL_URL RENDER_SERVICE_ID IS_PULL_REQUEST RAILWAY_ENVIRONMENT
    RAILWAY_PRIVATE_DOMAIN RAILWAY_PUBLIC_DOMAIN RAILWAY_STATIC_URL VERCEL VERCEL_ENV VERCEL_URL NETLIFY URL DEPLOY_URL DEPLOY_PRIME_URL
    CONTEXT VCAP_APPLICATION VCAP_SERVICES CF_INSTANCE_ADDR CF_INSTANCE_INDEX MEMORY_LIMIT INSTANCE_INDEX NOMAD_ALLOC_ID NOMAD_ADDR_http
    NOMAD_IP_http NOMAD_PORT_http NOMAD_TASK_DIR CONSUL_HTTP_ADDR VAULT_ADDR VAULT_TOKEN`,
  'containers and Kubernetes': `KUBECONFIG KUBERNETES_PORT KUBERNETES_PORT_443_TCP KUBERNETES_PORT_443_TCP_ADDR KUBERNETES_PORT_443_TCP_PORT
    KUBERNETES_PORT_443_TCP_PROTO KUBERNETES_SERVICE_HOST KUBERNETES_SERVICE_PORT KUBERNETES_SERVICE_PORT_HTTPS POD_IP POD_NAME POD_NAMESPACE
    POD_UID HOST_IP HOST_NAME NODE_IP NAMESPACE SERVICE_NAME SERVICE_ACCOUNT CPU_LIMIT CPU_REQUEST MEM_LIMIT GOMAXPROCS GOMEMLIMIT
    DOCKER_HOST DOCKER_CONFIG DOCKER_BUILDKIT COMPOSE_PROJECT_NAME COMPOSE_FILE container DEBIAN_FRONTEND PUID PGID UMASK S6_KEEP_ENV`,
  'other programs': `PGHOST PGPORT PGUSER PGPASSWORD PGDATA PGDATABASE POSTGRES_PASSWORD POSTGRES_USER MYSQL_HOST MYSQL_ROOT_PASSWORD MONGO_URL
    RABBITMQ_URL KAFKA_BROKERS AMQP_URL SMTP_HOST SMTP_PORT MAIL_HOST S3_BUCKET SENTRY_DSN SENTRY_RELEASE NEW_RELIC_LICENSE_KEY DD_AGENT_HOST
    DD_ENV DD_SERVICE DD_TRACE_AGENT_PORT DD_VERSION HONEYCOMB_API_KEY GRAFANA_URL PROMETHEUS_URL LOG_DIR LOG_FILE LOG_PATH LOGS APP_ENV
    APP_NAME APP_PORT APP_URL BASE_URL API_URL API_TOKEN API_KEY API_HOST AUTH_TOKEN AUTH_URL SECRET SECRET_KEY SESSION_SECRET CLIENT_ID
    CLIENT_SECRET TOKEN DEBUG VERBOSE STAGE VERSION RELEASE COMMIT REGION ZONE DOMAIN PUBLIC_IP PUBLIC_HOSTNAME PUBLIC_PORT PUBLIC_DOMAIN
    HOSTS PORTS POST COST GHOST ROOT SORT DATA DATABASE DATA_PATH DATA_ROOT CONFIG CONFIG_DIR CACHE CACHE_DIR CACHE_TTL CACHE_KEY INDEX
    INDEX_NAME MAX_MEMORY MAX_WORKERS MAX_CONNECTIONS WORKER_ID CHAIN_ID RPC_URL ETH_RPC_URL ETHERSCAN_API_KEY ETH_FROM FOUNDRY_PROFILE
    PRIVATE_KEY MNEMONIC INFURA_API_KEY ALCHEMY_API_KEY IPFS_PATH IPFS_PROFILE LIBP2P_TCP_MUX MCP_SERVER_URL OPENAI_API_KEY TENANT_ID
    OPERATION_ID START_TIME NOTICE DRAIN DEFAULT_BRANCH DEFAULT_REGION EXTRA_ARGS EXTRA_OPTS ALLOWED_HOSTS TRUSTED_HOSTS METADATA_URL
    JAVA_HOME GOPATH GOROOT CARGO_HOME RUSTUP_HOME PYTHONPATH PYTHONUNBUFFERED VIRTUAL_ENV CONDA_PREFIX CONDA_DEFAULT_ENV GEM_HOME HOMEBREW_PREFIX
    NIX_PATH NIX_PROFILES`,
  OpenTelemetry: `OTEL_ATTRIBUTE_COUNT_LIMIT OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT OTEL_BLRP_EXPORT_TIMEOUT OTEL_BLRP_MAX_EXPORT_BATCH_SIZE
    OTEL_BLRP_MAX_QUEUE_SIZE OTEL_BLRP_SCHEDULE_DELAY OTEL_EXPORTER_OTLP_CERTIFICATE OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE
    OTEL_EXPORTER_OTLP_CLIENT_KEY OTEL_EXPORTER_OTLP_INSECURE OTEL_EXPORTER_OTLP_LOGS_ENDPOINT OTEL_EXPORTER_OTLP_LOGS_HEADERS
    OTEL_EXPORTER_OTLP_LOGS_PROTOCOL OTEL_EXPORTER_OTLP_METRICS_COMPRESSION OTEL_EXPORTER_OTLP_METRICS_ENDPOINT
    OTEL_EXPORTER_OTLP_METRICS_HEADERS OTEL_EXPORTER_OTLP_METRICS_PROTOCOL OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE
    OTEL_EXPORTER_OTLP_METRICS_TIMEOUT OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE OTEL_EXPORTER_OTLP_TRACES_INSECURE OTEL_EXPORTER_PROMETHEUS_HOST
    OTEL_EXPORTER_PROMETHEUS_PORT OTEL_EXPORTER_ZIPKIN_ENDPOINT OTEL_LOGS_EXPORTER OTEL_LOG_LEVEL OTEL_METRICS_EXEMPLAR_FILTER
    OTEL_METRICS_EXPORTER OTEL_METRIC_EXPORT_INTERVAL OTEL_METRIC_EXPORT_TIMEOUT OTEL_NODE_RESOURCE_DETECTORS OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT
    OTEL_SPAN_EVENT_COUNT_LIMIT OTEL_SPAN_LINK_COUNT_LIMIT OTEL_EXPERIMENTAL_CONFIG_FILE`,
};

const ordinary = Object.values(ORDINARY).flatMap((names) => names.split(/\s+/));

test.each([
  ...Object.entries(ORDINARY).map(([who, names]) => [who, names.split(/\s+/)] as const),
  ['links of Kubernetes to services', SERVICE_LINKS] as const,
  ['the gateway and the service', [...NAMES, ...NAMES_OF_SERVICE]] as const,
])('nothing is unknown of what is ordinary: %s', (_who, names) => {
  const env = { ...setTo(names), NODE_ENV: 'test' };
  expect(unknownVariables(env)).toEqual([]);
  expect(unknownVariables(env, NAMES_OF_SERVICE)).toEqual([]);
});

test('nothing is unknown of the environment of this test', () => {
  expect(unknownVariables(process.env)).toEqual([]);
});

test.each(['production', 'development', 'test', '', undefined])('NODE_ENV=%s is known', (NODE_ENV) => {
  expect(unknownVariables({ NODE_ENV })).toEqual([]);
});

test.each(['prod', 'Production', 'staging'])('NODE_ENV=%s is unknown', (NODE_ENV) => {
  expect(unknownVariables({ NODE_ENV })).toEqual([
    { name: 'NODE_ENV=…', meant: 'production, development or test' },
  ]);
  expect(unknownVariables({ NODE_ENV }, NAMES_OF_SERVICE)).toEqual([]);
});

/** The warnings of the log about unknown variables. */
const warnings = (lines: readonly string[]) =>
  lines.flatMap((line) => {
    const { level, msg, name, meant } = JSON.parse(line);
    return level === 'warn' && msg === 'unknown environment variable' ? [{ name, meant }] : [];
  });

/** The warnings of the log about variables that something else has replaced. */
const replaced = (lines: readonly string[]) =>
  lines.flatMap((line) => {
    const { level, msg, name, instead } = JSON.parse(line);
    return level === 'warn' && msg === 'deprecated environment variable' ? [{ name, instead }] : [];
  });

test('the gateway warns at start, in one line for each, without a value; and of nothing ordinary', async () => {
  const wrong = { UPSTREM_URL: secret, CHAIN: secret, JWT_SECRETS: secret, NODE_ENV: secret };
  const others = setTo([
    ...ordinary.filter((name) => !/^(?:NODE|OTEL|MALLOC|LD|npm|SSL|GOMAX)/.test(name)),
    ...SERVICE_LINKS,
  ]);
  const old = { CACHE_HOLDERS_MS: '5000', LOG_FORMAT: 'json' };
  await using gateway = await startGatewayProcess({ ...others, PATH: process.env.PATH, ...wrong, ...old });
  expect(warnings(gateway.lines)).toEqual([
    { name: 'UPSTREM_URL', meant: 'UPSTREAM_URL' },
    { name: 'CHAIN', meant: 'CHAINS' },
    { name: 'JWT_SECRETS', meant: 'JWT_SECRET' },
    { name: 'NODE_ENV=…', meant: 'production, development or test' },
  ]);
  expect(replaced(gateway.lines)).toEqual([
    { name: 'CACHE_HOLDERS_MS', instead: 'CACHE_NEWEST_MS=holders=…' },
    { name: 'LOG_FORMAT', instead: expect.stringContaining('terminal') },
  ]);
  expect(gateway.lines.filter((line) => line.includes('"level":"warn"'))).toHaveLength(6);
  expect(gateway.lines.join()).not.toContain(secret);
});

test('nothing is unknown of what the project itself sets', async () => {
  await using gateway = await startGatewayProcess();
  expect(gateway.lines.filter((line) => line.includes('"level":"warn"'))).toEqual([]);
});

test('the service that runs alone warns of its own variables, and knows those of the gateway', async () => {
  await using folder = await folderOf({});
  const env = {
    PATH: process.env.PATH,
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
    API_KEY: 'key',
    PORT: '0',
    INDEX_DIR: folder.path('index'),
  };
  const program = ['node_modules/.bin/node', PROGRAM, 'service'] as const;
  const wrong = { API_KEY_HEADR: secret, UPSTREM_URL: secret, UPSTREAM_URL: 'http://127.0.0.1:9' };
  const CHAINS = '31337=http://127.0.0.1:9';
  await using service = await spawnProgram(program, {
    cwd: process.cwd(),
    env: { ...env, ...wrong, CHAINS },
  });
  expect(warnings(service.lines)).toEqual([{ name: 'API_KEY_HEADR', meant: 'API_KEY_HEADER' }]);
  expect(replaced(service.lines)).toEqual([
    { name: 'INDEX_DIR', instead: expect.stringMatching(/^DATA_DIR/) },
  ]);
  expect(service.lines.join()).not.toContain(secret);
  const failing = spawnProgram(program, { cwd: process.cwd(), env: { ...env, CHAIN: CHAINS } });
  await expect(failing).rejects.toThrow(
    /CHAINS: expected .*"unknown":\[\{"name":"CHAIN","meant":"CHAINS"\}\]/,
  );
});

# Sourced by the tools in bin/: the repository's root, messages, what must be installed, the build.
# shellcheck shell=bash

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
TOOL=$(basename "$0")

log() { printf '%s: %s\n' "$TOOL" "$*" >&2; }

die() {
  log "error: $*"
  exit 1
}

# The value of a property in the root pom.
pom_property() {
  local value
  value=$(sed -n "s|^ *<$1>\(.*\)</$1>.*|\1|p" "$ROOT/pom.xml" | head -n 1)
  [ -n "$value" ] || die "pom.xml has no property $1"
  printf '%s' "$value"
}

java_major() {
  "$1" -version 2>&1 | sed -n 's/^[a-z]* \(version "\)\{0,1\}\([0-9]*\).*/\2/p' | head -n 1
}

has_jdk() {
  local javac=javac
  if [ -n "${JAVA_HOME:-}" ]; then
    javac=$JAVA_HOME/bin/javac
  fi
  command -v "$javac" > /dev/null && [ "$(java_major "$javac")" -ge 17 ]
}

# Installs the missing ones of: a JDK of 17 or later, Maven, and what a tool adds as command:package.
ensure_packages() {
  local missing=() pair
  has_jdk || missing+=(openjdk-17-jdk-headless)
  for pair in mvn:maven "$@"; do
    command -v "${pair%%:*}" > /dev/null || missing+=("${pair#*:}")
  done
  [ ${#missing[@]} -gt 0 ] || return 0

  local line="apt-get update && apt-get install -y --no-install-recommends ${missing[*]}"
  if ! command -v apt-get > /dev/null; then
    die "missing: ${missing[*]} (names as on Debian); install what provides them here and try again"
  fi
  if [ "$(id -u)" -ne 0 ]; then
    die "missing: ${missing[*]}; run this and try again: sudo sh -c '$line'"
  fi
  export DEBIAN_FRONTEND=noninteractive
  apt-get -q update < /dev/null >&2 || log "apt-get update failed; trying with the lists that are there"
  if ! apt-cache show openjdk-17-jdk-headless > /dev/null 2>&1; then
    # Newer releases have newer JDKs only.
    missing=("${missing[@]/openjdk-17-jdk-headless/default-jdk-headless}")
  fi
  log "installing ${missing[*]}"
  apt-get -q install -y --no-install-recommends "${missing[@]}" < /dev/null >&2 ||
    die "could not install; run this by hand: $line"
  has_jdk || die "the java in use is older than 17: set JAVA_HOME to a JDK of 17 or later"
}

mvn_quiet() { (cd "$ROOT" && mvn -q -B -ntp "$@" < /dev/null); }

plugin_jar() {
  printf '%s/shuffle-manager/target/spark-rdma-shuffle-spark%s_%s-%s.jar' "$ROOT" \
    "$(pom_property spark.line)" "$(pom_property scala.binary.version)" \
    "$(sed -n 's|^  <version>\(.*\)</version>.*|\1|p' "$ROOT/pom.xml" | head -n 1)"
}

WORKLOADS_JAR=$ROOT/integration-tests/target/workloads.jar

# Builds the jars unless no source is newer than they are.
build_jars() {
  local plugin newer
  plugin=$(plugin_jar)
  if [ -f "$plugin" ] && [ -f "$WORKLOADS_JAR" ]; then
    newer=$(find "$ROOT/pom.xml" "$ROOT"/*/pom.xml "$ROOT"/*/src/main -newer "$WORKLOADS_JAR" -print -quit)
    [ -n "$newer" ] || return 0
  fi
  log "building (mvn package)"
  mvn_quiet -Dmaven.test.skip=true package || die "the build failed; see above"
}

# Runs a main class of the workloads jar so that a signal to this script stops it in good order,
# and so that a cluster that it left behind is stopped whatever happened to it.
run_tool() {
  local main=$1 java=java status=0
  shift
  [ -z "${JAVA_HOME:-}" ] || java=$JAVA_HOME/bin/java
  CLUSTER_DIR=${CLUSTER_DIR:-$ROOT/target/clusters/$$}
  local command=("$java" -Xmx512m -cp "$WORKLOADS_JAR:$(plugin_jar):$SPARK_HOME/jars/*")
  command+=("-Dproject.root=$ROOT" "-Dspark.dist=$SPARK_HOME" "-Dplugin.jar=$(plugin_jar)")
  command+=("-Dworkloads.jar=$WORKLOADS_JAR" "-Dcluster.dir=$CLUSTER_DIR" "$main")

  # In the background, because bash runs traps only between foreground commands; <&0 keeps stdin.
  "${command[@]}" "$@" <&0 &
  local child=$!
  trap 'kill -TERM '"$child"' 2> /dev/null || true' INT TERM HUP
  wait "$child" || status=$?
  while kill -0 "$child" 2> /dev/null; do
    status=0
    wait "$child" || status=$?
  done
  trap - INT TERM HUP
  if [ -f "$CLUSTER_DIR/cluster.properties" ] && [ "$status" -gt 128 ]; then
    "$java" -cp "$WORKLOADS_JAR" org.sparkrdma.cluster.ClusterCommand stop --dir "$CLUSTER_DIR" || true
  fi
  return "$status"
}

# Clones over the network: https with its certificate, git's own protocol.
. "$SRC/tests/cli/km-harvest/repos.bash"
command -v openssl >/dev/null || { echo 'no openssl here'; exit 77; }
unset GIT_SSL_CAINFO SSL_CERT_FILE https_proxy HTTPS_PROXY all_proxy ALL_PROXY
openssl req -x509 -newkey rsa:2048 -nodes -keyout key -out cert -days 2 \
    -subj /CN=localhost -addext subjectAltName=DNS:localhost 2>/dev/null
mkdir root
repo root/r --bare
commit root/r LICENSE "$MIT" m.py 'from torch import nn\nclass M(nn.Module): pass\n'
repo root/renamed --bare
commit root/renamed LICENSE "$MIT" m.py 'from torch import nn\nclass R(nn.Module): pass\n'
git -C root/renamed symbolic-ref HEAD refs/heads/gone
python3 "$SRC/tests/git_server.py" root cert key port >/dev/null 2>&1 &
server=$!
trap 'kill $server; [ ! -e daemon.pid ] || kill "$(cat daemon.pid)"' EXIT
for _ in {1..100}; do [ -e port ] || sleep 0.1; done
url=https://localhost:$(cat port)
harvest() { km-harvest --json "$@" 2>/dev/null | sed "s#:$(cat port)/#:PORT/#" | show '.name // .note // .repo'; }
echo "== not trusted"
km-harvest --json "$url/r" 2>/dev/null >untrusted
! grep -q harvest.sandbox untrusted || { echo 'no Landlock here'; exit 77; }
grep -c 'certificate verification failed' untrusted
echo "== trusted"
export SSL_CERT_FILE=$PWD/cert
harvest "$url/r" "$url/renamed"
harvest --all-history "$url/r"
echo "== what goes wrong costs one record"
harvest "$url/gone" "$url/loop/r" "$url/plain/r" "$url/r"
harvest --fetch-seconds 1 "$url/slow/r"
echo "== a killed run leaves no git behind"
gits() {
    for pid in /proc/[0-9]*; do
        ! grep -qzF "$url/slow/killed" "$pid/cmdline" || cat "$pid/comm"
    done 2>/dev/null | sort -u
}
km-harvest "$url/slow/killed" >/dev/null 2>&1 &
for _ in {1..100}; do [[ $(gits) != *git-remote-http* ]] || break; sleep 0.1; done
gits
kill -KILL $! && wait $! 2>/dev/null || echo killed
for _ in {1..20}; do [ -n "$(gits)" ] || break; sleep 0.1; done
gits
echo "== a name that git could take for an option, a user in the URL"
harvest "https://-u:secret@localhost:$(cat port)/r" \
    "https://-u:secret@localhost:$(cat port)/gone"
echo "== the reason is told, what is secret is not"
km-harvest -v "https://token-1@localhost:$(cat port)/gone" \
    "https://u:pass-1@localhost:$(cat port)/plain/r" \
    "https://localhost:$(cat port)/gone?query-1" >out 2>err
show '.note' <<<"$(km-cat --json out)" | sed "s#:$(cat port)/#:PORT/#"
! grep -E 'token-1|pass-1|query-1' err <(km-cat --json out)
echo "== git://"
git daemon --base-path=root --export-all --listen=127.0.0.1 --detach \
    --port="$(python3 -c 'import socket; s = socket.socket(); s.bind(("", 0)); print(s.getsockname()[1])' | tee gitport)" \
    --pid-file="$PWD/daemon.pid" --reuseaddr root 2>/dev/null
harvest "git://127.0.0.1:$(cat gitport)/r"

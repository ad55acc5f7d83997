// Writes or reads a file from its first to its last byte, in calls of a few bytes each, and prints
// the time as a line of JSON: `nacre_bench_posix write|read FILE BYTES BYTES_PER_CALL`. Every byte
// that it reads is checked. It knows nothing of Nacre: libnacre_posix.so is preloaded or not.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

namespace {

using Bytes = std::vector<char>;

char byte_at(std::size_t offset) { return static_cast<char>(offset ^ offset >> 8 ^ offset >> 16); }

Bytes pattern(std::size_t size) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = byte_at(i);
  return bytes;
}

[[noreturn]] void fail(const char* what) {
  std::perror(what);
  std::exit(1);
}

void write_file(const char* path, const Bytes& from, std::size_t per_call) {
  const int file = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0644);
  if (file < 0) fail(path);
  for (std::size_t done = 0; done < from.size();) {
    const ssize_t wrote = write(file, &from[done], std::min(per_call, from.size() - done));
    if (wrote <= 0) fail("write");
    done += static_cast<std::size_t>(wrote);
  }
  if (fsync(file) != 0 || close(file) != 0) fail("fsync and close");
}

void read_file(const char* path, Bytes& to, std::size_t per_call) {
  const int file = open(path, O_RDONLY);
  if (file < 0) fail(path);
  std::size_t done = 0;
  while (done < to.size()) {
    const ssize_t got = read(file, &to[done], std::min(per_call, to.size() - done));
    if (got < 0) fail("read");
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  if (close(file) != 0) fail("close");
}

/// Writes back and drops the pages of the file that this machine has cached, if the file system
/// allows it.
void drop_cached_pages(const char* path) {
  const int file = open(path, O_RDONLY);
  if (file < 0) fail(path);
  fsync(file);
  posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
  close(file);
}

template <class Call>
double seconds_of(Call call) {
  const auto begin = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

int main(int count, char** words) {
  if (count != 5) return 2;
  const std::string_view what = words[1];
  const char* const path = words[2];
  const std::size_t per_call = std::stoull(words[4]);
  const Bytes wanted = pattern(std::stoull(words[3]));
  Bytes bytes = wanted;
  double seconds = 0;
  if (what == "write") {
    seconds = seconds_of([&] { write_file(path, wanted, per_call); });
  } else {
    drop_cached_pages(path);
    std::transform(bytes.begin(), bytes.end(), bytes.begin(), [](char byte) { return ~byte; });
    seconds = seconds_of([&] { read_file(path, bytes, per_call); });
  }
  std::int64_t wrong = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) wrong += bytes[i] == wanted[i] ? 0 : 1;
  std::printf("{\"seconds\": %.9f, \"wrong_bytes\": %lld}\n", seconds,
              static_cast<long long>(wrong));
}

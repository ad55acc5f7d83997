// C++ streams on files. Run as `posix_streams CASE`, or `posix_streams CALLS SEED` for so many
// random calls, in an empty folder: what it prints, and the files that it leaves, must not depend
// on NACRE_IOBUF.
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <random>
#include <string>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

const char* const data = "data.log";

std::string bytes_of(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string line(int number) {
  return "step " + std::to_string(number) + " residual 1e-" + std::to_string(number % 9);
}

/// The descriptor and the FILE of a stream, which only derived classes can reach.
class OpenBuffer : public std::filebuf {
 public:
  int descriptor() { return _M_file.fd(); }
  FILE* file() { return _M_file.file(); }
};

void many_lines() {
  std::ofstream out(data);
  for (int i = 0; i < 5000; ++i) out << line(i) << std::endl;
  std::cout << out.tellp() << ' ' << out.good() << '\n';
}

void many_reads() {
  {
    std::ofstream out(data);
    for (int i = 0; i < 20000; ++i) out << line(i) << '\n';
  }
  char small[512];
  std::ifstream in;
  in.rdbuf()->pubsetbuf(small, sizeof small);
  in.open(data);
  std::string found;
  long sum = 0;
  while (std::getline(in, found)) sum += static_cast<long>(found.size()) + found.back();
  std::cout << sum << ' ' << in.eof() << '\n';
}

void seeks() {
  std::fstream file(data, std::ios::in | std::ios::out | std::ios::trunc);
  for (int i = 0; i < 500; ++i) file << line(i) << std::flush;
  std::cout << file.tellp() << ' ' << file.tellg() << '\n';
  file.seekp(100) << "[changed]" << std::flush;
  file.seekp(-30, std::ios::end) << "[near the end]" << std::flush;
  file.seekp(50, std::ios::end) << "[beyond]" << std::flush;
  file.seekg(95);
  std::string found(20, ' ');
  file.read(found.data(), 20);
  std::cout << found << ' ' << file.tellg() << '\n';
  file.seekp(0) << "[start]" << std::flush;
  file.seekg(0, std::ios::end);
  std::cout << file.tellg() << ' ' << file.good() << '\n';
}

void appends() {
  std::ofstream(data) << "first\n";
  std::ofstream out(data, std::ios::app);
  std::cout << out.tellp() << '\n';
  for (int i = 0; i < 300; ++i) {
    out << line(i) << std::endl;
    if (i % 100 == 0) std::cout << out.tellp() << '\n';
  }
  out.seekp(0) << "at the end all the same\n" << std::flush;
  std::ofstream later(data, std::ios::app);  // looks where the file ends when it is opened
  std::cout << later.tellp() << '\n';
  later << "later\n" << std::flush;
  std::ofstream at_end(data, std::ios::in | std::ios::ate);
  std::cout << at_end.tellp() << '\n';
  at_end << "last\n";
}

void two_streams() {
  std::ofstream out(data);
  std::ofstream other(data, std::ios::in);
  std::ifstream in(data);
  std::string found;
  for (int i = 0; i < 200; ++i) {
    out << line(i) << std::endl;
    if (i % 50 == 49) {
      other.seekp(i / 50) << char('A' + i / 50) << std::flush;
      std::cout << in.rdbuf()->in_avail() << '\n';
    }
    in.clear();
    std::getline(in, found);
    if (i % 40 == 0) std::cout << found << ' ' << in.tellg() << '\n';
  }
}

void unbuffered() {
  std::ofstream out;
  out.rdbuf()->pubsetbuf(nullptr, 0);
  out.open(data);
  for (int i = 0; i < 300; ++i) out << line(i) << ' ' << i * 0.5 << '\n';
  std::cout << out.tellp() << '\n';
  out.close();
  std::ifstream in;
  in.rdbuf()->pubsetbuf(nullptr, 0);
  in.open(data);
  std::string word;
  for (int i = 0; i < 7; ++i) in >> word;
  std::cout << word << ' ' << in.tellg() << ' ' << in.rdbuf()->in_avail() << '\n';
}

/// Everybody else sees the bytes: other names, commands, sizes, descriptors and C streams.
void seen_by_others() {
  std::ofstream out(data);
  out << "text" << std::endl;
  std::cout << std::filesystem::file_size(data) << '\n';
  std::filesystem::create_hard_link(data, "other.log");
  out << "more" << std::endl;
  std::cout << std::filesystem::file_size("other.log") << ' ' << bytes_of("other.log");
  out << "for a command" << std::endl;
  std::cout << std::flush;
  if (std::system("cat data.log") != 0) std::cout << "failed\n";
  char found[100] = {};
  const int descriptor = open(data, O_RDWR);
  std::cout << read(descriptor, found, sizeof found) << ' ' << found;
  if (write(descriptor, "descriptor\n", 11) != 11) std::cout << "failed\n";
  out.seekp(0, std::ios::end) << "stream" << std::endl;
  close(descriptor);
  FILE* const stream = std::fopen(data, "r+");
  std::cout << std::fgets(found, sizeof found, stream);
  std::fseek(stream, 0, SEEK_END);
  std::fputs("stdio\n", stream);
  std::fclose(stream);
  out.seekp(0, std::ios::end) << "end" << std::endl;
  std::filesystem::resize_file(data, 4);
  out << "after a truncation" << std::endl;
  std::filesystem::rename(data, "renamed.log");
  out << "and a new name" << std::endl;
  std::ofstream(data) << "new";
  std::cout << bytes_of("renamed.log").size() << ' ' << bytes_of(data) << '\n';
}

void descriptors() {
  OpenBuffer buffer;
  buffer.open(data, std::ios::out | std::ios::in | std::ios::trunc);
  std::ostream out(&buffer);
  out << "one" << std::endl;
  const int copy = dup(buffer.descriptor());
  if (write(copy, "two\n", 4) != 4 || fsync(copy) != 0) std::cout << "failed\n";
  out << "three" << std::endl;
  std::cout << lseek(copy, 0, SEEK_CUR) << ' ' << lseek(copy, 0, SEEK_END) << '\n';
  out << "locked" << std::endl;
  if (flock(copy, LOCK_EX) != 0 || flock(copy, LOCK_UN) != 0) std::cout << "failed\n";
  out << "after the lock" << std::endl;
  buffer.close();
  if (write(copy, "last\n", 5) != 5) std::cout << "failed\n";
  close(copy);
}

/// The FILE of the stream is used after all.
void files_of_stdio() {
  OpenBuffer buffer;
  buffer.open(data, std::ios::out | std::ios::in | std::ios::trunc);
  std::ostream out(&buffer);
  for (int round = 0; round < 3; ++round) {
    out << "by the stream" << std::endl;
    std::fprintf(buffer.file(), "by stdio %d\n", round);
    std::fflush(buffer.file());
  }
  out << "and read again" << std::endl;
  std::rewind(buffer.file());
  char found[100] = {};
  for (int i = 0; i < 7; ++i) std::cout << std::fgets(found, sizeof found, buffer.file());
  OpenBuffer other;
  other.open("other.log", std::ios::out | std::ios::in | std::ios::trunc);
  std::ostream(&other) << "12 34" << std::flush;
  int number = 0;
  lseek(other.descriptor(), 3, SEEK_SET);
  if (std::fscanf(other.file(), "%d", &number) == 1) std::cout << number << '\n';
}

void forks() {
  std::ofstream out(data);
  out << "parent" << std::endl;
  if (fork() == 0) {
    out << "child" << std::endl;
    _exit(0);
  }
  wait(nullptr);
  out << "parent again" << std::endl;
  std::cout << bytes_of(data);
}

/// A stream that is closed, one that is destroyed at the end of the process, one that never is.
void ends() {
  static std::ofstream unclosed("static.log");
  unclosed << "in the buffer of the stream";
  auto* const leaked = new std::ofstream("leaked.log");
  *leaked << "flushed" << std::endl << "not flushed";
  std::ofstream out(data);
  out << "text" << std::endl;
  std::_Exit(0);
}

void signals() {
  rlimit none{};
  setrlimit(RLIMIT_CORE, &none);
  std::ofstream out(data);
  for (int i = 0; i < 300; ++i) out << line(i) << std::endl;
  std::raise(SIGSEGV);
}

/// The stream is bad sooner or later, at the latest when it is closed.
void errors() {
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{10000, RLIM_INFINITY};
  setrlimit(RLIMIT_FSIZE, &small);
  std::ofstream out(data);
  for (int i = 0; i < 2000 && out; ++i) out << line(i) << std::endl;
  out.close();
  std::cout << out.fail() << ' ' << std::filesystem::file_size(data) << '\n';
}

void wide_and_many() {
  std::map<int, std::wofstream> all;
  for (int file = 0; file < 40; ++file) all[file].open("wide" + std::to_string(file) + ".log");
  for (int i = 0; i < 50; ++i)
    for (auto& [number, out] : all) out << L"value " << number * i << std::endl;
}

/// Three streams on one file, and calls of all kinds on them.
class RandomCalls {
 public:
  explicit RandomCalls(unsigned seed) : draw_(seed) {}

  void run(int calls) {
    for (int i = 0; i < calls; ++i) {
      both_.clear();
      end_.clear();
      in_.clear();
      call();
    }
    both_.close();
    std::cout << bytes_of(data).size() << '\n';
  }

 private:
  int below(int limit) { return static_cast<int>(draw_() % static_cast<unsigned>(limit)); }
  std::string text() {
    return std::string(1 + below(below(8) == 0 ? 6000 : 60), char('a' + below(26)));
  }

  void read_from(std::istream& stream) {
    std::string found(1 + below(200), '.');
    stream.read(found.data(), static_cast<std::streamsize>(found.size()));
    std::cout << stream.gcount() << ' ' << found << '\n';
  }

  void call() {
    switch (below(14)) {
      case 0:
        both_.seekp(below(20000));
        break;
      case 1:
        both_.seekg(below(20000)), read_from(both_);
        break;
      case 2:
        in_.seekg(below(20000));
        break;
      case 3:
        in_.sync(), read_from(in_);
        break;
      case 4:
        end_ << text() << std::flush;
        break;
      case 5:
        std::cout << end_.tellp() << ' ' << both_.tellp() << ' ' << in_.tellg() << '\n';
        break;
      case 6:
        in_.sync(), std::cout << in_.rdbuf()->in_avail() << '\n';
        break;
      case 7:
        both_.flush(), std::cout << std::filesystem::file_size(data) << '\n';
        break;
      case 8:
        both_.seekp(-below(40), std::ios::end);
        break;
      case 9:
        if (below(8) == 0) both_.flush(), std::filesystem::resize_file(data, below(20000));
        break;
      default:
        both_.seekp(0, std::ios::cur), both_ << text() << std::flush;
    }
  }

  std::mt19937 draw_;
  std::fstream both_{data, std::ios::in | std::ios::out | std::ios::trunc};
  std::ofstream end_{data, std::ios::app};
  std::ifstream in_{data};
};

const std::map<std::string, void (*)()> cases{
    {"many_lines", many_lines},
    {"many_reads", many_reads},
    {"seeks", seeks},
    {"appends", appends},
    {"two_streams", two_streams},
    {"unbuffered", unbuffered},
    {"seen_by_others", seen_by_others},
    {"descriptors", descriptors},
    {"files_of_stdio", files_of_stdio},
    {"forks", forks},
    {"ends", ends},
    {"signals", signals},
    {"errors", errors},
    {"wide_and_many", wide_and_many},
};

}  // namespace

int main(int count, char** arguments) {
  if (count == 3) {
    RandomCalls(static_cast<unsigned>(std::stoul(arguments[2]))).run(std::stoi(arguments[1]));
  } else {
    cases.at(arguments[1])();
  }
  return std::cout.flush().good() ? 0 : 1;
}

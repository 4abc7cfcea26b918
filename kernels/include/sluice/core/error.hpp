// SPDX-License-Identifier: Apache-2.0
/// \file
/// The exceptions that cross the library's border. The library never prints, aborts or exits.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

namespace sluice {

/// Base of everything the library throws on purpose.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The caller asked for something that has no meaning (a negative radius, an unknown field, an unknown backend).
class InvalidArgument : public Error {
 public:
  using Error::Error;
};

/// The caller asked for something meaningful that this build or this file format cannot do.
class Unsupported : public Error {
 public:
  using Error::Error;
};

/// A file or stream could not be opened, read, written or renamed.
class IoError : public Error {
 public:
  IoError(std::string path, const std::string& what) : Error(path + ": " + what), path_(std::move(path)) {}
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

/// The bytes of a file contradict its format.
class FormatError : public Error {
 public:
  /// \param path     file as the user named it
  /// \param offset   byte offset in the file of the field at fault
  /// \param field    name of the field, e.g. "number of point records"
  /// \param problem  what was found and what was expected
  FormatError(std::string path, std::uint64_t offset, std::string field, const std::string& problem)
      : Error(path + ": byte " + std::to_string(offset) + ": " + field + ": " + problem),
        path_(std::move(path)),
        field_(std::move(field)),
        offset_(offset) {}
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] const std::string& field() const noexcept { return field_; }
  [[nodiscard]] std::uint64_t offset() const noexcept { return offset_; }

 private:
  std::string path_;
  std::string field_;
  std::uint64_t offset_;
};

/// Memory of the host or of a device ran out, or a limit that the caller set would be passed.
class OutOfMemory : public Error {
 public:
  /// \param bytes    bytes asked for
  /// \param limit    bytes allowed; 0 where the system, not a limit, refused
  /// \param purpose  what the memory was for
  OutOfMemory(std::uint64_t bytes, std::uint64_t limit, const std::string& purpose)
      : Error("out of memory: " + purpose + " needs " + std::to_string(bytes) + " bytes" +
              (limit != 0 ? ", the limit is " + std::to_string(limit) + " bytes" : std::string())),
        bytes_(bytes),
        limit_(limit) {}
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::uint64_t limit() const noexcept { return limit_; }

 private:
  std::uint64_t bytes_;
  std::uint64_t limit_;
};

/// A call of the GPU runtime failed.
class DeviceError : public Error {
 public:
  DeviceError(const std::string& call, int code, const std::string& meaning, const char* file, int line)
      : Error(call + " failed with " + std::to_string(code) + " (" + meaning + ") at " + file + ":" +
              std::to_string(line)),
        code_(code) {}
  [[nodiscard]] int code() const noexcept { return code_; }

 private:
  int code_;
};

/// The caller asked for the work to stop (an interrupt at a terminal).
class Cancelled : public Error {
 public:
  Cancelled() : Error("cancelled") {}
};

}  // namespace sluice

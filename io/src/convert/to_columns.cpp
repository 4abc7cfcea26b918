// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <cmath>
#include <type_traits>
#include <unordered_set>
#include <utility>

#include "../columns/text_row.hpp"
#include "../lower.hpp"
#include "converters.hpp"
#include "sluice/core/copy_values.hpp"
#include "sluice/core/error.hpp"
#include "sluice/io/pcd.hpp"
#include "sluice/io/ply.hpp"
#include "sluice/io/raw.hpp"
#include "sluice/io/text.hpp"

namespace sluice::io::convert {
namespace {

/// How one column of the output is made.
struct Move {
  enum class How : std::uint8_t { kCopy, kNumber, kReal, kWorld, kZero };
  How how = How::kCopy;
  Field from;               ///< its offset and type; of several columns that are copied as one, the first
  int axis = 0;             ///< kWorld
  std::uint32_t at = 0;     ///< in the new record
  std::uint32_t bytes = 0;  ///< kCopy
  FieldType to = FieldType::kFloat64;
  std::string name{};
};

/// Stores a value as another type. \return false where it is not the same number any more
bool put(FieldType type, const Value& value, std::byte* to) {
  return columns::with_type(type, [&]<typename T>(T /*tag*/) {
    const T stored = value.kind == Value::Kind::kReal     ? static_cast<T>(value.r)
                     : value.kind == Value::Kind::kSigned ? static_cast<T>(value.i)
                                                          : static_cast<T>(value.u);
    store_unaligned(to, stored);
    Value back;
    if constexpr (std::is_floating_point_v<T>) {
      back = Value::of_real(static_cast<double>(stored));
      if (value.kind == Value::Kind::kReal && std::isnan(value.r)) return true;
    } else if constexpr (std::is_signed_v<T>) {
      back = Value::of_signed(stored);
    } else {
      back = Value::of_unsigned(stored);
    }
    return compare(back, value) == Ordering::kEqual;
  });
}

class ToColumns final : public RecordConverter {
 public:
  ToColumns(CloudInfo info, const CloudInfo& source, std::vector<Move> moves, Losses losses)
      : info_(std::move(info)),
        frame_(source.frame),
        moves_(std::move(moves)),
        losses_(std::move(losses)),
        changed_(moves_.size()) {
    const std::uint64_t bytes = info_.schema.record_bytes;
    keeps_records_ = moves_.size() == 1 && moves_[0].how == Move::How::kCopy && moves_[0].bytes == bytes &&
                     bytes == source.schema.record_bytes;
  }

  [[nodiscard]] const CloudInfo& info() const override { return info_; }
  [[nodiscard]] bool keeps_records() const override { return keeps_records_; }

  void convert(const PointView& in, std::uint64_t first, std::byte* out) const override {
    const std::uint64_t bytes = info_.schema.record_bytes;
    for (std::size_t m = 0; m < moves_.size(); ++m) {
      const Move& move = moves_[m];
      std::byte* to = out + move.at;
      if (move.how == Move::How::kCopy) {
        copy_values(in.records + move.from.offset, in.stride, to, bytes, move.bytes, in.count);
        continue;
      }
      const Column column = move.from.column(in.records, in.stride);
      std::uint64_t changed = 0;
      for (std::uint64_t i = 0; i < in.count; ++i) {
        if (put(move.to, value_of(move, column, i), to + i * bytes)) continue;
        ++changed;
        if (losses_.strict()) {
          throw Unsupported(losses_.name() + ": point " + std::to_string(first + i) + ": " + move.name +
                            " is no number that " + type_name(move.to) + " holds exactly");
        }
      }
      if (changed != 0) changed_[m].fetch_add(changed, std::memory_order_relaxed);
    }
  }

  [[nodiscard]] std::vector<std::string> warnings() const override {
    std::vector<std::string> out = losses_.all();
    for (std::size_t m = 0; m < moves_.size(); ++m) {
      const std::uint64_t count = changed_[m].load();
      if (count == 0) continue;
      out.push_back(std::to_string(count) + (count == 1 ? " point: " : " points: ") + moves_[m].name + " rounded to " +
                    type_name(moves_[m].to));
    }
    return out;
  }

 private:
  static std::string type_name(FieldType type) { return type == FieldType::kFloat32 ? "float32" : "float64"; }

  [[nodiscard]] Value value_of(const Move& move, const Column& column, std::uint64_t i) const {
    switch (move.how) {
      case Move::How::kWorld:
        return Value::of_real(to_world(load_unaligned<std::int32_t>(column.data + i * column.stride),
                                       frame_.scale[move.axis], frame_.offset[move.axis]));
      case Move::How::kReal:
        return Value::of_real(real_value(move.from, column.at(i)));
      case Move::How::kZero:
        return Value::of_real(0.0);
      default:
        return column.at(i);
    }
  }

  CloudInfo info_;
  CoordinateFrame frame_;
  std::vector<Move> moves_;
  Losses losses_;
  bool keeps_records_;
  mutable std::vector<std::atomic<std::uint64_t>> changed_;  ///< points, per move
};

/// A name that a header can hold: without blanks and separators, and no number or comment.
std::string safe_name(const std::string& name, std::size_t number, std::unordered_set<std::string>& taken) {
  std::string out = name.empty() ? "c" + std::to_string(number) : name;
  for (char& c : out) {
    if (static_cast<unsigned char>(c) <= ' ' || c == ',' || c == ';' || c == '"' || c == '#' || c == '/') c = '_';
  }
  if (out == "_" || columns::is_number(out.data(), out.data() + out.size())) out = "c_" + out;
  const std::string wanted = out;
  for (int n = 2; !taken.insert(out).second; ++n) out = wanted + "_" + std::to_string(n);
  return out;
}

bool is_axis(const std::string& name, int& axis) {
  static constexpr std::string_view kAxes[3] = {"x", "y", "z"};
  for (axis = 0; axis < 3; ++axis) {
    if (name == kAxes[axis]) return true;
  }
  return false;
}

/// Columns that follow each other on both sides are copied as one.
void join_copies(std::vector<Move>& moves) {
  std::vector<Move> out;
  for (Move& move : moves) {
    if (!out.empty() && move.how == Move::How::kCopy && out.back().how == Move::How::kCopy &&
        out.back().from.offset + out.back().bytes == move.from.offset && out.back().at + out.back().bytes == move.at) {
      out.back().bytes += move.bytes;
    } else {
      out.push_back(std::move(move));
    }
  }
  moves = std::move(out);
}

template <typename DataT>
DataT data_called(const std::string& name, DataT usual, std::initializer_list<DataT> all) {
  if (name.empty()) return usual;
  std::string known;
  for (const DataT data : all) {
    if (name == name_of(data)) return data;
    known += (known.empty() ? "" : ", ") + std::string(name_of(data));
  }
  throw InvalidArgument("'" + name + "' is none of " + known);
}

PcdData pcd_data(const ConvertTarget& target, PcdData usual) {
  return data_called(target.data, usual, {PcdData::kAscii, PcdData::kBinary, PcdData::kCompressed});
}

PlyData ply_data(const ConvertTarget& target, PlyData usual) {
  return data_called(target.data, usual, {PlyData::kAscii, PlyData::kLittleEndian, PlyData::kBigEndian});
}

/// How texts of such a name look: `.csv` has commas or semicolons and names in its first line, `.xyz` blanks and names,
/// if any, in a comment. Others look like the text that they come from.
void set_text_style(TextMetadata& metadata, const std::string& path, bool is_new) {
  const std::string name = lower(path);
  if (name.ends_with(".csv")) {
    if (metadata.separator == ' ' || metadata.separator == '\t') metadata.separator = ',';
    metadata.header = TextHeader::kLine;
  } else if (name.ends_with(".xyz")) {
    if (metadata.separator != '\t') metadata.separator = ' ';
    metadata.header = metadata.columns.size() == 3 ? TextHeader::kNone : TextHeader::kComment;
  } else if (is_new) {
    metadata.header = TextHeader::kLine;
  }
}

/// Colours that PCL keeps in the bits of a float. Most of them are no numbers: a text would lose them.
bool holds_colours(const ColumnField& column) {
  const std::string name = lower(column.name);
  return column.type == FieldType::kFloat32 && column.count == 1 && (name == "rgb" || name == "rgba");
}

/// For a text: the same bits as whole numbers.
void spell_colours(std::vector<ColumnField>& columns) {
  for (ColumnField& column : columns) {
    if (holds_colours(column)) column.type = FieldType::kUint32;
  }
}

/// The same columns in the same format: records stay as they are.
std::shared_ptr<ColumnMetadata> same_format(const CloudInfo& source, const ConvertTarget& target,
                                            const std::string& format) {
  if (source.metadata == nullptr || source.metadata->format() != format) return nullptr;
  if (const auto* pcd = dynamic_cast<const PcdMetadata*>(source.metadata.get())) {
    auto out = std::make_shared<PcdMetadata>(*pcd);
    out->data = pcd_data(target, pcd->data);
    if (out->data == PcdData::kAscii && pcd->data != PcdData::kAscii) spell_colours(out->columns);
    return out;
  }
  if (const auto* ply = dynamic_cast<const PlyMetadata*>(source.metadata.get())) {
    auto out = std::make_shared<PlyMetadata>(*ply);
    out->data = ply_data(target, ply->data);
    if (out->data == PlyData::kAscii && ply->data != PlyData::kAscii) spell_colours(out->columns);
    return out;
  }
  if (const auto* text = dynamic_cast<const TextMetadata*>(source.metadata.get())) {
    auto out = std::make_shared<TextMetadata>(*text);
    // An .xyz file of any style is one already, but commas make a .csv file.
    if (lower(target.path).ends_with(".csv") || changes_text_style(source, target.path)) {
      set_text_style(*out, target.path, false);
    }
    return out;
  }
  if (const auto* raw = dynamic_cast<const RawMetadata*>(source.metadata.get())) {
    return std::make_shared<RawMetadata>(*raw);
  }
  return nullptr;
}

class Builder {
 public:
  Builder(const CloudInfo& source, const ConvertTarget& target)
      : source_(source), target_(target), losses_(source.name, target.strict) {}

  std::shared_ptr<const RecordConverter> build(const std::string& format) {
    if (auto same = same_format(source_, target_, format)) {
      Move all;
      all.bytes = source_.schema.record_bytes;
      return finish(std::move(same), {all});
    }
    lose_metadata(source_, losses_);
    if (format == "pcd") {
      auto metadata = std::make_shared<PcdMetadata>();
      metadata->data = pcd_data(target_, PcdData::kBinary);
      metadata->width = source_.point_count;
      return all_columns(std::move(metadata));
    }
    if (format == "ply") {
      auto metadata = std::make_shared<PlyMetadata>();
      metadata->data = ply_data(target_, PlyData::kLittleEndian);
      return all_columns(std::move(metadata));
    }
    if (format == "text") return all_columns(std::make_shared<TextMetadata>());
    if (format == "bin") return raw_columns();
    throw Unsupported(target_.path + ": the extension names no format that can be written");
  }

 private:
  /// The move that makes a column of a field, and the type of the column in the file.
  Move move_of(const NamedField& named, bool wide_integers, FieldType& file_type) const {
    Move move;
    move.from = named.field;
    move.name = named.field.name;
    file_type = named.file_type;
    const bool lattice = source_.frame.kind == CoordinateKind::kLattice;
    if (lattice && is_axis(named.field.name, move.axis)) {
      move.how = Move::How::kWorld;
      file_type = move.to = FieldType::kFloat64;
    } else if (named.field.scaled) {
      move.how = Move::How::kReal;
      file_type = move.to = FieldType::kFloat64;
    } else if (named.field.bit_count != 0) {
      move.how = Move::How::kNumber;
      move.to = named.field.bit_count <= 8 ? FieldType::kUint8 : named.field.type;
      file_type = move.to;
    } else if (!wide_integers && (file_type == FieldType::kInt64 || file_type == FieldType::kUint64)) {
      move.how = Move::How::kNumber;
      file_type = move.to = FieldType::kFloat64;
    } else {
      move.bytes = field_bytes(named.field.type);
      move.to = named.field.type;
    }
    return move;
  }

  template <typename MetadataT>
  std::shared_ptr<const RecordConverter> all_columns(std::shared_ptr<MetadataT> metadata) {
    const bool wide_integers = !std::is_same_v<MetadataT, PlyMetadata>;
    std::vector<Move> moves;
    std::unordered_set<std::string> taken;
    for (const NamedField& named : named_fields(source_)) {
      ColumnField column;
      moves.push_back(move_of(named, wide_integers, column.type));
      column.name = safe_name(named.name, moves.size(), taken);
      metadata->columns.push_back(std::move(column));
    }
    bool is_text = false;
    if constexpr (std::is_same_v<MetadataT, TextMetadata>) {
      set_text_style(*metadata, target_.path, true);
      is_text = true;
    } else {
      is_text = name_of(metadata->data) == "ascii";
    }
    place(*metadata, moves);
    // The bits stay, so the moves do.
    if (is_text) spell_colours(metadata->columns);
    return finish(std::move(metadata), std::move(moves));
  }

  std::shared_ptr<const RecordConverter> raw_columns() {
    auto metadata = std::make_shared<RawMetadata>();
    std::vector<Move> moves;
    std::vector<const char*> wanted = {"x", "y", "z", "intensity"};
    if (lower(target_.path).ends_with(".pcd.bin")) wanted.push_back("ring");
    std::string dropped;
    for (const Field& field : source_.schema.fields) {
      if (std::any_of(wanted.begin(), wanted.end(), [&](const char* name) { return field.name == name; })) continue;
      dropped += (dropped.empty() ? "" : ", ") + field.name;
    }
    if (!dropped.empty()) losses_.add("these fields are not kept: " + dropped);
    for (const char* name : wanted) {
      Move move;
      move.name = name;
      const Field* field = source_.schema.find(name);
      if (field == nullptr) {
        move.how = Move::How::kZero;
        move.from.type = FieldType::kUint8;
        losses_.add(std::string(name) + " is unknown and set to 0");
      } else {
        FieldType file_type{};
        move = move_of({*field, name, field->type}, true, file_type);
        const bool is_float = move.how == Move::How::kCopy && field->type == FieldType::kFloat32;
        if (move.how == Move::How::kCopy && !is_float) move.how = Move::How::kNumber;
      }
      move.to = FieldType::kFloat32;
      moves.push_back(std::move(move));
      metadata->columns.push_back({name, FieldType::kFloat32, 1});
    }
    place(*metadata, moves);
    return finish(std::move(metadata), std::move(moves));
  }

  /// Columns are in the order of the moves; a coordinate may be wider in memory than in the file.
  static void place(const ColumnMetadata& metadata, std::vector<Move>& moves) {
    const columns::Layout layout(metadata.columns);
    for (std::size_t i = 0; i < moves.size(); ++i) {
      Move& move = moves[i];
      move.at = layout.values()[i].at;
      if (layout.values()[i].type == move.to) continue;
      move.to = layout.values()[i].type;
      if (move.how == Move::How::kCopy) move.how = Move::How::kNumber;
    }
    join_copies(moves);
  }

  std::shared_ptr<const RecordConverter> finish(std::shared_ptr<const ColumnMetadata> metadata,
                                                std::vector<Move> moves) {
    CloudInfo info = make_column_info(std::move(metadata));
    info.name = source_.name;
    info.point_count = source_.point_count;
    return std::make_shared<ToColumns>(std::move(info), source_, std::move(moves), std::move(losses_));
  }

  const CloudInfo& source_;
  const ConvertTarget& target_;
  Losses losses_;
};

}  // namespace

bool changes_text_style(const CloudInfo& source, const std::string& path) {
  if (dynamic_cast<const TextMetadata*>(source.metadata.get()) == nullptr) return false;
  for (const char* extension : {".csv", ".xyz"}) {
    if (lower(path).ends_with(extension)) return !lower(source.name).ends_with(extension);
  }
  return false;
}

std::shared_ptr<const RecordConverter> to_columns(const CloudInfo& source, const ConvertTarget& target,
                                                  const std::string& format) {
  return Builder(source, target).build(format);
}

}  // namespace sluice::io::convert

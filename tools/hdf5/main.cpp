// kith-read-hdf5 NAME USUAL: writes one dataset of the HDF5 file on stdin as .npy to stdout.
// tools/files/binary/hdf5.cpp runs it, and says what its answers mean.
//
//   NAME     of the dataset; empty: USUAL if the file has it, else the only one
//   first line `ok NAME`, and behind it the .npy file; or `argument TEXT`, `file TEXT`: what is wrong. Before
//         it `distance TEXT` if the file has an attribute of that name, as in ann-benchmarks
//
// Reads only what is in the file itself: refuses links into other files, external and virtual datasets, and
// uses only filters of the library.
#include <hdf5.h>
#include <stdio.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

[[noreturn]] void refuse(const char* whose, const std::string& text) {
  std::string line = text;
  std::replace(line.begin(), line.end(), '\n', ' ');
  printf("%s %s\n", whose, line.c_str());
  fflush(stdout);
  std::exit(EXIT_SUCCESS);
}

[[noreturn]] void refuse_file(const std::string& text) {
  refuse("file", text +
                     "; it is damaged or of a kind that kith does not read: in Python, numpy.save('new.npy', "
                     "h5py.File('FILE')['NAME'][:])");
}

/// Lists the datasets that the file's own links name.
std::vector<std::string> names_in(hid_t file) {
  std::vector<std::string> names;
  const auto take = [](hid_t group, const char* name, const H5L_info_t* link, void* to) -> herr_t {
    constexpr std::size_t most = 1000;
    auto& list = *static_cast<std::vector<std::string>*>(to);
    H5O_info_t object;
    const bool own = link->type == H5L_TYPE_HARD;
    if (own && H5Oget_info_by_name2(group, name, &object, H5O_INFO_BASIC, H5P_DEFAULT) >= 0 &&
        object.type == H5O_TYPE_DATASET)
      list.emplace_back(name);
    return list.size() < most ? 0 : 1;
  };
  if (H5Literate(file, H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, take, &names) < 0)
    refuse_file("its list of datasets cannot be read");
  return names;
}

std::string chosen(const std::vector<std::string>& names, const std::string& wanted,
                   const std::string& usual) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "\"" : ", \"") + name + "\"";
  const auto has = [&](const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  if (names.empty()) refuse("argument", "holds no dataset at its top; a file of rows has one");
  if (!wanted.empty() && !has(wanted))
    refuse("argument", "has no array called \"" + wanted + "\"; it has " + list);
  if (!wanted.empty()) return wanted;
  if (has(usual)) return usual;
  if (names.size() > 1)
    refuse("argument", "holds several arrays, " + list + "; name one of them: --read array=");
  return names[0];
}

/// Returns whether a float of two bytes has the format of IEEE 754; the library knows the other sizes.
bool is_half(hid_t type) {
  std::size_t sign = 0, exponent = 0, exponent_bits = 0, fraction = 0, fraction_bits = 0;
  return H5Tget_fields(type, &sign, &exponent, &exponent_bits, &fraction, &fraction_bits) >= 0 &&
         sign == 15 && exponent == 10 && exponent_bits == 5 && fraction == 0 && fraction_bits == 10;
}

/// Returns the name of the type in NumPy: `<f4`.
std::string descr_of(hid_t type) {
  const std::size_t size = H5Tget_size(type);
  const bool big = H5Tget_order(type) == H5T_ORDER_BE;
  std::string kind;
  if (H5Tget_class(type) == H5T_INTEGER && (size == 1 || size == 2 || size == 4 || size == 8) &&
      H5Tget_precision(type) == 8 * size)
    kind = H5Tget_sign(type) == H5T_SGN_NONE ? "u" : "i";
  const bool ieee = H5Tequal(type, H5T_IEEE_F32LE) > 0 || H5Tequal(type, H5T_IEEE_F32BE) > 0 ||
                    H5Tequal(type, H5T_IEEE_F64LE) > 0 || H5Tequal(type, H5T_IEEE_F64BE) > 0;
  if (H5Tget_class(type) == H5T_FLOAT && (ieee || (size == 2 && is_half(type)))) kind = "f";
  if (kind.empty()) refuse_file("its elements are no numbers of 1, 2, 4 or 8 bytes");
  return (big ? ">" : "<") + kind + std::to_string(size);
}

void check_storage(hid_t data) {
  const hid_t how = H5Dget_create_plist(data);
  if (how < 0) refuse_file("it cannot be read");
  if (H5Pget_layout(how) == H5D_VIRTUAL || H5Pget_external_count(how) != 0)
    refuse_file("its elements lie in other files");
  for (int filter = 0; filter < H5Pget_nfilters(how); ++filter) {
    unsigned flags = 0, settings = 0;
    std::size_t values = 0;
    const H5Z_filter_t id =
        H5Pget_filter2(how, static_cast<unsigned>(filter), &flags, &values, nullptr, 0, nullptr, &settings);
    if (id < 0 || H5Zfilter_avail(id) <= 0)
      refuse_file("it is packed by the filter " + std::to_string(id) + ", which this HDF5 library lacks");
  }
}

/// Returns how many rows a piece has: some MiB, and whole chunks if the dataset has chunks.
hsize_t piece_rows(hid_t data, const std::vector<hsize_t>& shape, std::size_t row_bytes) {
  constexpr hsize_t piece = hsize_t{4} << 20, most = hsize_t{256} << 20;
  hsize_t rows = std::max<hsize_t>(1, piece / std::max<std::size_t>(row_bytes, 1));
  const hid_t how = H5Dget_create_plist(data);
  std::vector<hsize_t> chunk(shape.size());
  if (H5Pget_layout(how) == H5D_CHUNKED &&
      H5Pget_chunk(how, static_cast<int>(chunk.size()), chunk.data()) > 0)
    rows = (rows + chunk[0] - 1) / chunk[0] * chunk[0];
  if (rows > most / std::max<std::size_t>(row_bytes, 1)) rows = std::max<hsize_t>(1, most / row_bytes);
  return std::min(rows, shape[0]);
}

/// Writes `data` from its first row to its last. Ends the program on failure: the reader notices that rows
/// are missing.
void write_rows(hid_t data, hid_t type, const std::vector<hsize_t>& shape) {
  std::size_t row_bytes = H5Tget_size(type);
  for (std::size_t axis = 1; axis < shape.size(); ++axis)
    if (__builtin_mul_overflow(row_bytes, shape[axis], &row_bytes)) std::exit(EXIT_FAILURE);
  const hsize_t step = piece_rows(data, shape, row_bytes);
  std::vector<unsigned char> bytes(step * row_bytes);
  const hid_t space = H5Dget_space(data);
  for (hsize_t row = 0; row < shape[0]; row += step) {
    std::vector<hsize_t> from(shape.size(), 0), count = shape;
    from[0] = row;
    count[0] = std::min(step, shape[0] - row);
    const hid_t memory = H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr);
    if (H5Sselect_hyperslab(space, H5S_SELECT_SET, from.data(), nullptr, count.data(), nullptr) < 0 ||
        H5Dread(data, type, memory, space, H5P_DEFAULT, bytes.data()) < 0)
      std::exit(EXIT_FAILURE);
    H5Sclose(memory);
    const std::size_t size = count[0] * row_bytes;
    if (fwrite(bytes.data(), 1, size, stdout) != size) std::exit(EXIT_FAILURE);
  }
}

/// Returns the text of the file's attribute `distance`; empty if it has none that is a short text.
std::string distance_of(hid_t file) {
  constexpr std::size_t longest = 64;
  if (H5Aexists(file, "distance") <= 0) return {};
  const hid_t attribute = H5Aopen(file, "distance", H5P_DEFAULT);
  const hid_t type = attribute < 0 ? -1 : H5Aget_type(attribute);
  const hid_t space = attribute < 0 ? -1 : H5Aget_space(attribute);
  if (type < 0 || space < 0 || H5Tget_class(type) != H5T_STRING || H5Sget_simple_extent_npoints(space) != 1)
    return {};
  std::string text;
  if (H5Tis_variable_str(type) > 0) {
    char* words = nullptr;
    if (H5Aread(attribute, type, &words) < 0 || !words) return {};
    text = words;
    H5free_memory(words);
  } else {
    text.resize(H5Tget_size(type));
    if (text.size() > longest || H5Aread(attribute, type, text.data()) < 0) return {};
    text.resize(std::min(text.find('\0'), text.size()));
  }
  const bool plain = std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
  return plain && text.size() <= longest ? text : "";
}

void write_npy_header(const std::string& descr, const std::vector<hsize_t>& shape) {
  std::string sizes;
  for (const hsize_t size : shape) sizes += std::to_string(size) + ", ";
  std::string header = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (" + sizes + "), }\n";
  const std::string start = std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size() & 255) +
                            static_cast<char>(header.size() >> 8);
  fwrite(start.data(), 1, start.size(), stdout);
  fwrite(header.data(), 1, header.size(), stdout);
}

}  // namespace

int main(int count, char** words) {
  if (count != 3) return fprintf(stderr, "kith-read-hdf5: is run by kith\n"), EXIT_FAILURE;
  constexpr rlim_t most = rlim_t{4} << 30;  // a file may announce chunks of any size
  const rlimit limit{most, most};
  setrlimit(RLIMIT_AS, &limit);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  H5PLset_loading_state(0);
  const hid_t file = H5Fopen("/proc/self/fd/0", H5F_ACC_RDONLY, H5P_DEFAULT);
  if (file < 0) refuse("file", "is no HDF5 file, or a damaged one; copy or download it again");
  const std::string name = chosen(names_in(file), words[1], words[2]);
  const hid_t data = H5Dopen2(file, name.c_str(), H5P_DEFAULT);
  if (data < 0) refuse_file("\"" + name + "\" cannot be read");
  check_storage(data);
  const hid_t type = H5Dget_type(data), space = H5Dget_space(data);
  const std::string descr = descr_of(type);
  const int axes = H5Sget_simple_extent_ndims(space);
  if (axes < 0) refuse_file("\"" + name + "\" has no shape");
  std::vector<hsize_t> shape(static_cast<std::size_t>(axes));
  if (axes > 0) H5Sget_simple_extent_dims(space, shape.data(), nullptr);
  if (name.find('\n') != std::string::npos) refuse_file("the name of a dataset has a line end");
  if (const std::string distance = distance_of(file); !distance.empty())
    printf("distance %s\n", distance.c_str());
  printf("ok %s\n", name.c_str());
  write_npy_header(descr, shape);
  if (!shape.empty() && std::find(shape.begin(), shape.end(), 0) == shape.end())
    write_rows(data, type, shape);
  return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

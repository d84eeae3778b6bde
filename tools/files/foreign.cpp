// Files of other programs: what to do so that kith can read them.
#include <array>

#include "formats.hpp"

namespace kith::files {
namespace {

struct Foreign {
  std::string_view endings;  ///< with blanks between them
  const char* advice;
};

constexpr std::array<Foreign, 17> foreign{
    {{".parquet .pq", "in Python: pandas.read_parquet('FILE').to_csv('new.csv', index=False)"},
     {".feather .arrow", "in Python: pandas.read_feather('FILE').to_csv('new.csv', index=False)"},
     {".arff",
      "in Python: pandas.DataFrame(scipy.io.arff.loadarff('FILE')[0]).to_csv('new.csv', index=False)"},
     {".json", "in Python: pandas.read_json('FILE').to_csv('new.csv', index=False)"},
     {".jsonl .ndjson", "in Python: pandas.read_json('FILE', lines=True).to_csv('new.csv', index=False)"},
     {".pkl .pickle", "in Python: numpy.save('new.npy', numpy.asarray(pandas.read_pickle('FILE')))"},
     {".xlsx .xls .ods", "in Python: pandas.read_excel('FILE').to_csv('new.csv', index=False)"},
     {".mat", "in Python: numpy.save('new.npy', scipy.io.loadmat('FILE')['NAME'])"},
     {".pt .pth", "in Python: numpy.save('new.npy', torch.load('FILE').numpy())"},
     {".rds", "in R: write.csv(readRDS('FILE'), 'new.csv', row.names = FALSE)"},
     {".zip", "unpack it with unzip FILE, and name the file that was in it"},
     {".bz2", "unpack it with bunzip2 -k FILE"},
     {".xz", "unpack it with unxz -k FILE"},
     {".zst", "unpack it with unzstd FILE"},
     {".tar .tgz", "unpack it with tar -xf FILE, and name the file that was in it"},
     {".7z", "unpack it with 7z x FILE, and name the file that was in it"},
     {".dat", "if it is text, give it a name that ends in .csv, .tsv or .txt"}}};

}  // namespace

std::string conversion_advice(const std::string& ending) {
  if (ending.empty()) return {};
  for (const Foreign& one : foreign)
    if ((" " + std::string(one.endings) + " ").find(" " + ending + " ") != std::string::npos)
      return one.advice;
  return {};
}

}  // namespace kith::files

"""Tests files written by kith.files: permissions, links, special files, and what a killed process leaves."""

import errno
import fcntl
import os
import signal
import stat
import subprocess
import sys
import textwrap

import kith
import numpy as np
import pytest
from kith import files
from kith.files import _whole_file

ROWS = np.array([[1, 2], [3, 4]], np.float32)
ENDINGS = [".fbin", ".fvecs", ".npy", ".npz", ".hdf5"]


def save(path, rows=ROWS):
    if str(path).endswith(".hdf5"):
        pytest.importorskip("h5py")
    files.save(path, rows)


def mode_of(path):
    return stat.S_IMODE(os.stat(path).st_mode)


@pytest.fixture
def umask():
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.mark.parametrize("ending", ENDINGS)
def test_permissions_stay(tmp_path, umask, ending):
    path = tmp_path / f"a{ending}"
    save(path)
    assert mode_of(path) == 0o644
    for mode in (0o600, 0o640, 0o664, 0o666, 0o700, 0o400):
        path.chmod(mode)
        save(path, 2 * ROWS)
        assert mode_of(path) == mode
        assert files.open(path).tolist() == (2 * ROWS).tolist()
    files.save_groundtruth(tmp_path / "t.ibin", [[1]])
    (tmp_path / "t.ibin").chmod(0o600)
    files.save_groundtruth(tmp_path / "t.ibin", [[2]])
    assert mode_of(tmp_path / "t.ibin") == 0o600


def test_an_unfinished_file_is_no_more_open_than_the_finished(tmp_path, umask):
    path, seen = tmp_path / "a.npy", []
    save(path)
    path.chmod(0o600)

    def look(file):
        seen.extend(mode_of(tmp_path / name) for name in os.listdir(tmp_path))
        file.write(b"x")

    _whole_file.write_whole(path, look)
    assert seen == [0o600, 0o600]


def test_links_as_an_index_file_has_them(tmp_path):
    """A link to a file stays, and the file is replaced; a link to nothing is replaced itself."""
    (tmp_path / "there").mkdir()
    index = kith.Index(ROWS, device="cpu")
    for name, write in (("a.npy", save), ("a.kidx", index.save)):
        kept, dangling, loop = tmp_path / "there" / name, tmp_path / f"d.{name}", tmp_path / f"l.{name}"
        write(kept)
        kept.chmod(0o600)
        link = tmp_path / name
        link.symlink_to(kept)
        write(link)
        assert link.is_symlink() and mode_of(kept) == 0o600 and not kept.is_symlink()
        dangling.symlink_to(tmp_path / "there" / f"none.{name}")
        write(dangling)
        assert not dangling.is_symlink() and not (tmp_path / "there" / f"none.{name}").exists()
    assert sorted(os.listdir(tmp_path / "there")) == ["a.kidx", "a.npy"]


@pytest.mark.parametrize("ending", ENDINGS)
def test_places_that_are_no_files(tmp_path, ending):
    os.mkfifo(tmp_path / f"pipe{ending}")
    (tmp_path / f"folder{ending}").mkdir()
    (tmp_path / "plain").write_bytes(b"")
    (tmp_path / f"loop{ending}").symlink_to(tmp_path / f"loop{ending}")
    for name, told in [
        (f"pipe{ending}", "is a pipe or a device, which cannot be written as a whole; name an ordinary file"),
        (f"folder{ending}", "is a folder, which cannot be written as a whole; name an ordinary file"),
        (f"none/a{ending}", "cannot be written: No such file or directory; make the folder first"),
        (f"plain/a{ending}", "cannot be written: Not a directory; choose another place"),
        (f"loop{ending}", "cannot be written: Too many levels of symbolic links; choose another place"),
        (f"a\0{ending}", "has a zero byte, which no name of a file has; name another"),
    ]:
        with pytest.raises(kith.BadFile, match=told):
            save(tmp_path / name)
        read = {"pipe": "is a pipe or", "fold": "is a folder, and", "none": "there is no such", "a\0": "zero byte"}
        with pytest.raises(kith.BadFile, match=next((read[one] for one in read if name.startswith(one)), "cannot be read: ")):
            files.open(tmp_path / name)
    assert stat.S_ISFIFO(os.stat(tmp_path / f"pipe{ending}").st_mode)
    assert len(os.listdir(tmp_path)) == 4


@pytest.mark.skipif(os.getuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(kith.BadFile, match="Permission denied; choose a folder that you may write to"):
        save(tmp_path / "a.npy")


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_disk_that_is_full(tmp_path, ending):
    """Sets a limit of the file size, with which writing fails as on a full disk."""
    path = tmp_path / f"a{ending}"
    save(path)
    program = textwrap.dedent("""
        import resource, sys, kith, kith.files, numpy as np
        if sys.argv[1].endswith(".hdf5"):
            import h5py
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        try:
            kith.files.save(sys.argv[1], np.ones((1000, 1000), np.float32))
        except kith.BadFile as error:
            print(error)
    """)
    run = subprocess.run([sys.executable, "-c", program, path], capture_output=True, text=True, check=True)
    assert f"{path}: cannot be written: " in run.stdout and run.stderr == ""
    assert ending == ".hdf5" or "File too large; raise the limit of a file's size" in run.stdout
    assert os.listdir(tmp_path) == [path.name] and files.open(path).tolist() == ROWS.tolist()


def test_what_is_written_is_on_the_disk_and_its_name_in_the_folder(tmp_path, monkeypatch):
    synced, failing = [], [0]

    def fsync(descriptor):
        folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        synced.append("folder" if folder else "file")
        if folder and failing[0]:
            raise OSError(failing[0], os.strerror(failing[0]))

    monkeypatch.setattr(os, "fsync", fsync)
    save(tmp_path / "a.npy")
    assert synced == ["file", "folder"]
    failing[0] = errno.EIO
    with pytest.raises(kith.BadFile, match="a.npy: cannot be written: Input/output error; choose another place"):
        save(tmp_path / "a.npy")
    failing[0] = errno.EINVAL
    save(tmp_path / "a.npy")


def killed_while_it_writes(folder, name="a.npy"):
    program = textwrap.dedent("""
        import sys, time
        from kith.files import _whole_file
        def body(file):
            file.write(b"half")
            file.flush()
            print("writing", flush=True)
            time.sleep(100)
        _whole_file.write_whole(sys.argv[1], body)
    """)
    process = subprocess.Popen([sys.executable, "-c", program, folder / name], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "writing\n"
    return process


def test_what_a_killed_process_left_is_removed(tmp_path):
    save(tmp_path / "a.npy")
    running, other = killed_while_it_writes(tmp_path), killed_while_it_writes(tmp_path, "b.npy")
    killed = killed_while_it_writes(tmp_path)
    for process in (killed, other):
        process.send_signal(signal.SIGKILL)
        process.wait()
    names = [f"a.npy.partial-{one.pid}-0" for one in (running, killed)] + [f"b.npy.partial-{other.pid}-0"]
    assert sorted(os.listdir(tmp_path)) == sorted(["a.npy", *names])
    save(tmp_path / "a.npy")  # files of processes that still write, or write others, stay
    assert sorted(os.listdir(tmp_path)) == sorted(["a.npy", names[0], names[2]])
    running.kill()
    running.wait()
    save(tmp_path / "a.npy")
    save(tmp_path / "b.npy")
    assert sorted(os.listdir(tmp_path)) == ["a.npy", "b.npy"]


def test_only_unfinished_files_are_removed(tmp_path):
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    keep = [f"a.npy.partial-{gone.pid}", f"a.npy.partial-{gone.pid}-x", f"a.npy.partial-{gone.pid}-0.npy", "a.npy.partial"]
    keep += [f"ba.npy.partial-{gone.pid}-0", f"aXnpy.partial-{gone.pid}-0", f"a.npy.partial-{os.getpid()}-7", "a.npy.partial--1-0"]
    for name in keep:
        (tmp_path / name).write_bytes(b"x")
    (tmp_path / f"a.npy.partial-{gone.pid}-3").mkdir()
    (tmp_path / f"a.npy.partial-{gone.pid}-4").symlink_to(tmp_path / keep[0])
    os.mkfifo(tmp_path / f"a.npy.partial-{gone.pid}-5")
    before = set(os.listdir(tmp_path))
    (tmp_path / f"a.npy.partial-{gone.pid}-0").write_bytes(b"x")
    (tmp_path / "a.npy.partial-4294967295-0").write_bytes(b"x")
    save(tmp_path / "a.npy")
    assert set(os.listdir(tmp_path)) == before | {"a.npy"}


def test_a_file_that_another_container_writes_is_kept(tmp_path):
    """The other process has no number here, but holds a lock."""
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    theirs = tmp_path / f"a.npy.partial-{gone.pid}-0"
    with theirs.open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        save(tmp_path / "a.npy")
        assert theirs.exists()
    save(tmp_path / "a.npy")
    assert not theirs.exists()


def test_threads_write_one_file_at_once(tmp_path):
    from threads import together

    together(8, lambda number: [save(tmp_path / "a.npy", ROWS + number) for _ in range(20)])
    assert os.listdir(tmp_path) == ["a.npy"] and files.open(tmp_path / "a.npy")[0, 0] in range(1, 9)


def test_many_unfinished_files_of_this_process_are_told(tmp_path):
    for number in range(100):
        (tmp_path / f"a.npy.partial-{os.getpid()}-{number}").write_bytes(b"")
    with pytest.raises(kith.BadFile, match="100 unfinished files are there already"):
        save(tmp_path / "a.npy")


@pytest.mark.parametrize("name", ["file", "args", "kwds", "allow_pickle", "compress", "self", "x.npy", "a b", "é"])
@pytest.mark.parametrize("ending", [".npz", ".hdf5"])
def test_arrays_of_any_name(tmp_path, ending, name):
    if ending == ".hdf5":
        pytest.importorskip("h5py")
    path = tmp_path / f"a{ending}"
    files.save(path, ROWS, array=name)
    assert files.open(path, name).tolist() == files.open(path).tolist() == ROWS.tolist()


@pytest.mark.parametrize("name", ["", ".", "a\0b", "a\nb", 3, None])
def test_names_that_no_array_has(tmp_path, name):
    for ending in (".npz", ".hdf5"):
        with pytest.raises(kith.InvalidArgument, match="is no name of an array of"):
            save_as = tmp_path / f"a{ending}"
            files.save(save_as, ROWS, array=name)
    assert os.listdir(tmp_path) == []


def test_rows_that_no_file_holds(tmp_path):
    for ending in ENDINGS:
        for rows in ([[1], [1, 2]], np.array([[{}]], object), [[None]]):
            with pytest.raises(kith.InvalidArgument, match="rows of dtype object; make numbers|rows are no array: "):
                save(tmp_path / f"a{ending}", rows)
    assert os.listdir(tmp_path) == []


def test_a_process_that_writes_on_is_not_disturbed(tmp_path):
    """Saves a long file, while other processes save short files to the same path."""
    running = killed_while_it_writes(tmp_path)
    for _ in range(3):
        program = "import sys, numpy as np, kith.files; kith.files.save(sys.argv[1], np.ones((1, 1), np.float32))"
        subprocess.run([sys.executable, "-c", program, tmp_path / "a.npy"], check=True)
    assert (tmp_path / f"a.npy.partial-{running.pid}-0").exists()
    running.terminate()
    running.wait()

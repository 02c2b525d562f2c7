using System;
using System.IO;
using NUnit.Framework;
using Skipstone.Native;

namespace Skipstone.Tests
{
    // A native library that cannot be loaded: the error says whether it is missing, for another system, or damaged.
    public class LibraryTests
    {
        private static readonly byte[] Elf = Numbers(0x3000, (0, 0x464C457F, 4), (4, 2, 1), (18, 62, 2), (40, 0x2000, 8), (58, 64, 2), (60, 3, 2));
        private static readonly byte[] Pe = Numbers(0x600, (0, 0x5A4D, 2), (0x3C, 0x80, 4), (0x80, 0x4550, 4), (0x84, 0x8664, 2), (0x86, 1, 2),
            (0x94, 0, 2), (0x98 + 16, 0x200, 4), (0x98 + 20, 0x400, 4));
        private static readonly byte[] MachO = Numbers(0x400, (0, 0xFEEDFACF, 4), (4, 0x0100000C, 4), (16, 1, 4), (32, 0x19, 4), (36, 72, 4),
            (32 + 40, 0x200, 8), (32 + 48, 0x200, 8));

        [Test]
        public void A_file_says_which_system_and_cpu_it_is_for()
        {
            Assert.AreEqual("Linux on x86-64", Read(Elf).Platform);
            Assert.AreEqual("Linux on ARM64", Read(With(Elf, 18, 183)).Platform);
            Assert.AreEqual("Windows on x86-64", Read(Pe).Platform);
            Assert.AreEqual("macOS on ARM64", Read(MachO).Platform);
            Assert.AreEqual("macOS on ARM64 and macOS on x86-64", Read(Universal()).Platform);
            foreach (byte[] whole in new[] { Elf, Pe, MachO, Universal() }) Assert.IsTrue(Read(whole).IsWhole);
        }

        [Test]
        public void A_file_that_ends_early_is_not_whole_wherever_it_ends()
        {
            foreach (byte[] whole in new[] { Elf, Pe, MachO, Universal() })
                for (int length = 0; length < whole.Length; length += 7)
                {
                    var cut = new byte[Math.Min(length, LastByte(whole))];
                    Array.Copy(whole, cut, cut.Length);
                    Assert.IsFalse(Read(cut).IsWhole, length + " bytes of " + whole.Length);
                }
        }

        [Test]
        public void Changed_bytes_are_never_more_than_a_wrong_answer()
        {
            var random = new Random(1);
            foreach (byte[] whole in new[] { Elf, Pe, MachO, Universal() })
                for (int i = 0; i < 2_000; i++)
                {
                    byte[] changed = (byte[])whole.Clone();
                    for (int j = random.Next(8); j >= 0; j--) changed[random.Next(200)] = (byte)random.Next(256);
                    Read(changed);
                }
        }

        [Test]
        public void The_error_says_what_is_wrong_with_the_library_and_what_to_do()
        {
            if (LibraryFile.Here != "Linux on x86-64") Assert.Ignore("the files of this test are for Linux");
            StringAssert.Contains("was not found: put libskipstone.so", Described("nothing.txt", Elf));
            StringAssert.Contains("is for Windows on x86-64, and this program runs on Linux on x86-64", Described("skipstone.dll", Pe));
            StringAssert.Contains("is for Windows on x86-64", Described("libskipstone.so", Pe));
            StringAssert.Contains("is for Linux on ARM64", Described("libskipstone.so", With(Elf, 18, 183)));
            StringAssert.Contains("is damaged: it is no library at all (3 bytes)", Described("libskipstone.so", new byte[3]));
            var half = new byte[0x1800];
            Array.Copy(Elf, half, half.Length);
            StringAssert.Contains("is damaged: its end is missing", Described("libskipstone.so", half));
            StringAssert.Contains("a library that it needs is missing", Described("libskipstone.so", Elf));
        }

        [Test]
        public void A_library_for_this_system_counts_before_those_for_others()
        {
            if (LibraryFile.Here != "Linux on x86-64") Assert.Ignore("the files of this test are for Linux");
            string others = Folder("skipstone.dll", Pe), own = Folder("libskipstone.so", new byte[3]);
            StringAssert.Contains(own, LibrarySearch.Describe("?", new[] { others, own }));
        }

        private static LibraryFile Read(byte[] bytes) => LibraryFile.Read(new MemoryStream(bytes));

        private static string Described(string name, byte[] content)
        {
            string text = LibrarySearch.Describe("what the system says", new[] { Folder(name, content) });
            StringAssert.Contains("what the system says", text);
            return text;
        }

        private static string Folder(string name, byte[] content)
        {
            string folder = Path.Combine(Path.GetTempPath(), "skipstone-" + Guid.NewGuid().ToString("N"));
            Directory.CreateDirectory(folder);
            File.WriteAllBytes(Path.Combine(folder, name), content);
            made.Add(folder);
            return folder;
        }

        private static readonly System.Collections.Generic.List<string> made = new System.Collections.Generic.List<string>();

        [TearDown]
        public void Remove()
        {
            foreach (string folder in made) Directory.Delete(folder, true);
            made.Clear();
        }

        // A file of that length with these numbers: place, value, bytes.
        private static byte[] Numbers(int length, params (int At, long Value, int Size)[] numbers)
        {
            var bytes = new byte[length];
            foreach ((int at, long value, int size) in numbers)
                for (int i = 0; i < size; i++) bytes[at + i] = (byte)(value >> 8 * i);
            // Its last byte counts: without it the file is not whole.
            return bytes;
        }

        // The end of the last part that the tables name.
        private static int LastByte(byte[] whole) => whole == Elf ? 0x2000 + 3 * 64 - 1 : whole.Length - 1;

        private static byte[] With(byte[] bytes, int at, byte value)
        {
            byte[] changed = (byte[])bytes.Clone();
            changed[at] = value;
            return changed;
        }

        private static byte[] Universal()
        {
            var bytes = new byte[0x1000 + 2 * MachO.Length];
            new byte[] { 0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 2 }.CopyTo(bytes, 0);
            for (int i = 0; i < 2; i++)
            {
                int offset = 0x1000 + i * MachO.Length;
                bytes[8 + i * 20 + 10] = (byte)(offset >> 8);
                MachO.CopyTo(bytes, offset);
            }
            bytes[0x1000 + MachO.Length + 4] = 7;
            return bytes;
        }
    }
}

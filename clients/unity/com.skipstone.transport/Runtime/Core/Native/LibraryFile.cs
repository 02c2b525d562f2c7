using System;
using System.IO;
using System.Runtime.InteropServices;

namespace Skipstone.Native
{
    // What the file of a native library says of itself: the system and the CPU that it is for, and whether all of it is
    // there. Runtimes report neither.
    internal sealed class LibraryFile
    {
        // "Linux on x86-64"; null if the file is no library.
        internal string Platform { get; private set; }
        // Whether it has as many bytes as its own tables say.
        internal bool IsWhole { get; private set; }
        internal long Length { get; private set; }

        // This process' system and CPU.
        internal static string Here
        {
            get
            {
                string system = RuntimeInformation.IsOSPlatform(OSPlatform.Windows) ? "Windows"
                    : RuntimeInformation.IsOSPlatform(OSPlatform.OSX) ? "macOS" : "Linux";
                return system + " on " + NameOf(RuntimeInformation.ProcessArchitecture);
            }
        }

        internal static LibraryFile Read(string path)
        {
            using (FileStream stream = File.Open(path, FileMode.Open, FileAccess.Read, FileShare.ReadWrite | FileShare.Delete))
                return Read(stream);
        }

        internal static LibraryFile Read(Stream stream)
        {
            var file = new LibraryFile { Length = stream.Length };
            try
            {
                file.Parse(new Bytes(stream));
            }
            catch (EndOfStreamException)
            {
                file.IsWhole = false; // it ends within its own tables
            }
            return file;
        }

        private void Parse(Bytes bytes)
        {
            uint magic = bytes.U32(0);
            if (magic == 0x464C457F) Elf(bytes);
            else if ((magic & 0xFFFF) == 0x5A4D) Pe(bytes);
            else if (magic == 0xFEEDFACF) MachO(bytes, 0);
            else if (magic == 0xBEBAFECA) Universal(bytes);
        }

        // Two section tables' worth of positions is all that is needed: linkers put the sections' table at the end.
        private void Elf(Bytes bytes)
        {
            bool is64 = bytes.U8(4) == 2;
            Platform = "Linux on " + ElfCpu(bytes.U16(18));
            ulong table = is64 ? bytes.U64(40) : bytes.U32(32);
            int at = is64 ? 58 : 46;
            ulong end = table + (ulong)bytes.U16(at) * bytes.U16(at + 2);
            IsWhole = end <= (ulong)Length;
        }

        private void Pe(Bytes bytes)
        {
            long header = bytes.U32(0x3C);
            if (bytes.U32(header) != 0x4550) return; // a program for DOS
            Platform = "Windows on " + PeCpu(bytes.U16(header + 4));
            long section = header + 24 + bytes.U16(header + 20);
            IsWhole = true;
            for (int left = bytes.U16(header + 6); left > 0; left--, section += 40)
                IsWhole &= (long)bytes.U32(section + 16) + bytes.U32(section + 20) <= Length;
        }

        private void MachO(Bytes bytes, long start)
        {
            Platform = "macOS on " + AppleCpu(bytes.U32(start + 4));
            long command = start + 32;
            IsWhole = true;
            for (uint left = bytes.U32(start + 16); left > 0; left--)
            {
                const uint Segment = 0x19;
                if (bytes.U32(command) == Segment)
                    IsWhole &= (ulong)start + bytes.U64(command + 40) + bytes.U64(command + 48) <= (ulong)Length;
                command += Math.Max(8, bytes.U32(command + 4));
            }
        }

        // One file for several CPUs, each a library of its own. Its numbers have their highest byte first.
        private void Universal(Bytes bytes)
        {
            string here = Here;
            bool isWhole = true;
            string all = "";
            for (uint i = 0; i < Math.Min(Swapped(bytes.U32(4)), 8); i++)
            {
                MachO(bytes, Swapped(bytes.U32(16 + i * 20)));
                isWhole &= IsWhole;
                if (Platform == here) all = here;
                else if (all != here) all += (all.Length == 0 ? "" : " and ") + Platform;
            }
            Platform = all.Length == 0 ? null : all;
            IsWhole = isWhole;
        }

        private static uint Swapped(uint value) =>
            value << 24 | (value & 0xFF00) << 8 | (value >> 8 & 0xFF00) | value >> 24;

        private static string NameOf(Architecture cpu)
        {
            switch (cpu)
            {
                case Architecture.X64: return "x86-64";
                case Architecture.X86: return "x86";
                case Architecture.Arm64: return "ARM64";
                case Architecture.Arm: return "ARM";
                default: return cpu.ToString();
            }
        }

        private static string ElfCpu(ushort number)
        {
            switch (number)
            {
                case 62: return "x86-64";
                case 3: return "x86";
                case 183: return "ARM64";
                case 40: return "ARM";
                default: return "CPU " + number;
            }
        }

        private static string PeCpu(ushort number)
        {
            switch (number)
            {
                case 0x8664: return "x86-64";
                case 0x14C: return "x86";
                case 0xAA64: return "ARM64";
                default: return "CPU " + number;
            }
        }

        private static string AppleCpu(uint number)
        {
            switch (number)
            {
                case 0x01000007: return "x86-64";
                case 0x0100000C: return "ARM64";
                default: return "CPU " + number;
            }
        }

        // Numbers with their lowest byte first, anywhere in a file.
        private readonly struct Bytes
        {
            private readonly Stream stream;

            internal Bytes(Stream stream) => this.stream = stream;

            internal byte U8(long at) => (byte)Number(at, 1);
            internal ushort U16(long at) => (ushort)Number(at, 2);
            internal uint U32(long at) => (uint)Number(at, 4);
            internal ulong U64(long at) => Number(at, 8);

            private ulong Number(long at, int size)
            {
                if (at < 0 || at > stream.Length - size) throw new EndOfStreamException();
                stream.Position = at;
                ulong number = 0;
                for (int i = 0; i < size; i++) number |= (ulong)(byte)stream.ReadByte() << 8 * i;
                return number;
            }
        }
    }
}

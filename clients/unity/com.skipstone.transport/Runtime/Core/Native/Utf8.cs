using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;
using System.Text;

namespace Skipstone.Native
{
    internal static unsafe class Utf8
    {
        internal static string Read(byte* bytes, int length) => length == 0 ? "" : Encoding.UTF8.GetString(bytes, length);

        // Up to the NUL at its end.
        internal static string Read(IntPtr text)
        {
            if (text == IntPtr.Zero) return null;
            var bytes = (byte*)text;
            int length = 0;
            while (bytes[length] != 0) length++;
            return Read(bytes, length);
        }
    }

    // The input of a call: texts and arrays outside of managed memory, freed together.
    internal sealed class Arena : IDisposable
    {
        private readonly List<IntPtr> blocks = new List<IntPtr>();

        // NUL-terminated; null stays null.
        internal IntPtr Text(string text, string name)
        {
            if (text == null) return IntPtr.Zero;
            if (text.IndexOf('\0') >= 0) throw new ArgumentException(name + " has a NUL character, which no text for the library can have", name);
            return Bytes(Encoding.UTF8.GetBytes(text + "\0"));
        }

        internal IntPtr Bytes(byte[] bytes)
        {
            if (bytes == null) return IntPtr.Zero;
            IntPtr block = Allocate(bytes.Length);
            Marshal.Copy(bytes, 0, block, bytes.Length);
            return block;
        }

        internal IntPtr Texts(IReadOnlyList<string> texts, string name)
        {
            if (texts == null || texts.Count == 0) return IntPtr.Zero;
            IntPtr array = Allocate(texts.Count * IntPtr.Size);
            for (int index = 0; index < texts.Count; index++)
            {
                if (texts[index] == null) throw new ArgumentException(name + " has an entry that is null", name);
                Marshal.WriteIntPtr(array, index * IntPtr.Size, Text(texts[index], name));
            }
            return array;
        }

        internal IntPtr Allocate(int bytes)
        {
            IntPtr block = Marshal.AllocHGlobal(Math.Max(bytes, 1));
            blocks.Add(block);
            return block;
        }

        public void Dispose()
        {
            foreach (IntPtr block in blocks) Marshal.FreeHGlobal(block);
            blocks.Clear();
        }
    }
}

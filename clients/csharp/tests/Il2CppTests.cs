using System;
using System.Collections.Generic;
using System.Linq;
using System.Reflection;
using System.Runtime.InteropServices;
using NUnit.Framework;

namespace Skipstone.Tests
{
    // Checks that Unity's IL2CPP and its ahead-of-time compilation can call everything: static methods with blittable
    // parameters, no generics, and delegates only of static methods that are marked for it.
    public class Il2CppTests
    {
        internal static IEnumerable<MethodInfo> Imports() =>
            typeof(Server).Assembly.GetTypes().SelectMany(type => type.GetMethods(Everything)).Where(method => (method.Attributes & MethodAttributes.PinvokeImpl) != 0);

        [Test]
        public void Every_import_is_one_that_IL2CPP_can_call()
        {
            MethodInfo[] imports = Imports().ToArray();
            Assert.That(imports.Length, Is.GreaterThan(30));
            foreach (MethodInfo import in imports)
            {
                CollectionAssert.IsEmpty(Breaches(import), import.Name);
            }
        }

        [Test]
        public void No_callback_is_passed_to_native_code()
        {
            foreach (Type type in typeof(Server).Assembly.GetTypes())
            {
                Assert.IsFalse(typeof(MulticastDelegate).IsAssignableFrom(type), type + ": the client has no delegates of its own");
                foreach (MethodInfo method in type.GetMethods(Everything))
                    foreach (CustomAttributeData attribute in method.GetCustomAttributesData())
                        StringAssert.DoesNotContain("UnmanagedCallersOnly", attribute.ToString());
            }
        }

        [TestCase(nameof(Wrong.Text), "String is not blittable")]
        [TestCase(nameof(Wrong.Bytes), "Byte[] is not blittable")]
        [TestCase(nameof(Wrong.Flag), "Boolean is not blittable")]
        [TestCase(nameof(Wrong.Letter), "Char is not blittable")]
        [TestCase(nameof(Wrong.Callback), "Action is a delegate")]
        [TestCase(nameof(Wrong.Reference), "a parameter by reference is marshalled")]
        [TestCase(nameof(Wrong.Mixed), "Mixture is not blittable")]
        [TestCase(nameof(Wrong.Owner), "SafeHandle is not blittable")]
        [TestCase(nameof(Wrong.Error), "SetLastError")]
        public void Uncallable_imports_are_detected(string name, string expected)
        {
            string breach = string.Join("; ", Breaches(typeof(Wrong).GetMethod(name, Everything)));
            StringAssert.Contains(expected, breach);
        }

        private static IEnumerable<string> Breaches(MethodInfo method)
        {
            if (!method.IsStatic) yield return "it is not static";
            if (method.IsGenericMethod || method.DeclaringType.IsGenericType) yield return "it is generic";
            var import = method.GetCustomAttribute<DllImportAttribute>();
            if (import.SetLastError) yield return "SetLastError costs a call and is not asked for";
            if (!import.ExactSpelling) yield return "its name is searched for with suffixes";
            if (!import.PreserveSig) yield return "its result is marshalled";
            if (import.CallingConvention != CallingConvention.Cdecl) yield return "it is not of C's calling convention";
            if (import.Value != "__Internal" && import.Value != "skipstone") yield return "its library has a prefix, an extension, or another name";
            foreach (ParameterInfo parameter in method.GetParameters().Append(method.ReturnParameter))
            {
                if (parameter.ParameterType.IsByRef) yield return "a parameter by reference is marshalled";
                else if (Breach(parameter.ParameterType) is string breach) yield return breach;
                if (parameter.GetCustomAttribute<MarshalAsAttribute>() != null) yield return "MarshalAs";
            }
        }

        private static string Breach(Type type)
        {
            if (type.IsPointer) return type == typeof(void*) ? null : Breach(type.GetElementType());
            if (typeof(Delegate).IsAssignableFrom(type)) return type.Name + " is a delegate";
            if (type.IsEnum) return Breach(Enum.GetUnderlyingType(type));
            if (type.IsGenericType) return type.Name + " is generic";
            if (type == typeof(void) || type == typeof(IntPtr) || type == typeof(UIntPtr)) return null;
            if (type == typeof(bool) || type == typeof(char) || type == typeof(decimal)) return type.Name + " is not blittable";
            if (type.IsPrimitive) return null;
            if (!type.IsValueType || type.IsAutoLayout) return type.Name + " is not blittable";
            foreach (FieldInfo field in type.GetFields(BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic))
                if (Breach(field.FieldType) is string inside) return type.Name + " is not blittable: " + inside;
            return null;
        }

        private const BindingFlags Everything =
            BindingFlags.Static | BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.DeclaredOnly;

#pragma warning disable CS0649
        private struct Mixture
        {
            internal int Fine;
            internal string Text;
        }
#pragma warning restore CS0649

        private static class Wrong
        {
            [DllImport("skipstone")] internal static extern void Text(string text);
            [DllImport("skipstone")] internal static extern void Bytes(byte[] bytes);
            [DllImport("skipstone")] internal static extern bool Flag();
            [DllImport("skipstone")] internal static extern void Letter(char letter);
            [DllImport("skipstone")] internal static extern void Callback(Action callback);
            [DllImport("skipstone")] internal static extern void Reference(ref int number);
            [DllImport("skipstone")] internal static extern void Mixed(Mixture mixed);
            [DllImport("skipstone")] internal static extern void Owner(SafeHandle owner);
            [DllImport("skipstone", SetLastError = true)] internal static extern void Error();
        }
    }
}
